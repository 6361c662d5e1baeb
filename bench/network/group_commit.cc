#include "group_commit.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <string_view>
#include <sys/eventfd.h>
#include <unistd.h>

#include <fmt/core.h>

namespace tenure::bench {
namespace {

constexpr std::uint64_t kFileBytes = std::uint64_t{64} << 20;

void write_at(const Descriptor& file, std::string_view bytes, std::uint64_t position) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (written < 0) throw_system_error("writing the file");
    bytes.remove_prefix(static_cast<std::size_t>(written));
    position += static_cast<std::uint64_t>(written);
  }
}

void sync(const Descriptor& file) {
  if (::fdatasync(file.get()) != 0) throw_system_error("syncing the file");
}

}  // namespace

GroupCommit::GroupCommit(const std::string& path)
    : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)),
      done_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (file_.get() < 0) throw_system_error("opening " + path);
  if (done_.get() < 0) throw_system_error("eventfd");
  fill_with_zeros();
  thread_ = std::thread([this] { work(); });
}

GroupCommit::~GroupCommit() {
  is_stopping_ = true;
  begun_.release();
  thread_.join();
}

void GroupCommit::begin(std::string& bytes) {
  batch_.clear();
  batch_.swap(bytes);
  begun_.release();
}

void GroupCommit::fill_with_zeros() {
  const std::string zeros(std::size_t{1} << 20, '\0');
  for (std::uint64_t at = 0; at < kFileBytes; at += zeros.size()) write_at(file_, zeros, at);
  if (::fsync(file_.get()) != 0) throw_system_error("syncing the file");
}

void GroupCommit::work() {
  while (true) {
    begun_.acquire();
    if (is_stopping_) return;
    try {
      write_and_sync();
    } catch (const std::exception& error) {
      fmt::print(stderr, "tenure-bare: {}\n", error.what());
      std::_Exit(1);
    }
  }
}

void GroupCommit::write_and_sync() {
  if (position_ + batch_.size() > kFileBytes) position_ = 0;
  write_at(file_, batch_, position_);
  position_ += batch_.size();
  sync(file_);
  const std::uint64_t one = 1;
  if (::write(done_.get(), &one, sizeof one) != sizeof one) throw_system_error("telling that a batch is done");
}

}  // namespace tenure::bench

#include "client/fence_log.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/limits.h"

namespace tenure {
namespace {

constexpr std::string_view kFenceHeader = "tenure fences 1\n";
constexpr std::size_t kRecordHeader = 16;
constexpr std::size_t kRecordMax = kRecordHeader + 2 + kNameBytesMax + 10;
// A file is written anew when it has grown by this much and has doubled.
constexpr std::uint64_t kGrowthMax = std::uint64_t{1} << 20;

void append_fence(std::string& out, std::uint64_t place, std::string_view resource, Fence fence) {
  std::string body;
  const std::size_t body_size = varint_size(resource.size()) + resource.size() + varint_size(fence.value);
  {
    ByteWriter to(body, 8 + body_size);
    to.fixed64(body_size);
    to.bytes(resource);
    to.varint(fence.value);
  }
  ByteWriter(out, 8).fixed64(hash64(body, place));
  out += body;
}

// The bytes of the record at the beginning of `text`; 0: there is none that is right.
std::size_t read_fence(std::string_view text, std::uint64_t place, FenceLog::Fences& fences) {
  ByteReader header(text);
  const std::uint64_t hash = header.fixed64();
  const std::uint64_t size = header.fixed64();
  if (!header.ok() || size > header.left()) return 0;
  if (hash64(text.substr(8, 8 + size), place) != hash) return 0;
  ByteReader body(text.substr(kRecordHeader, size));
  const std::string_view resource = body.bytes();
  const Fence fence{body.varint()};
  if (!body.ok() || !body.at_end()) return 0;
  fences.insert_or_assign(std::string(resource), fence);
  return kRecordHeader + size;
}

}  // namespace

Result<std::unique_ptr<FenceLog>> FenceLog::open(Files& files, const std::string& path, Fences& fences) {
  std::unique_ptr<FenceLog> log(new FenceLog(files, path));
  auto lock = files.lock(path + ".lock");
  if (!lock) return tl::unexpected(lock.error());
  log->lock_ = std::move(*lock);
  // The file gets its name when it is complete, so one that is there has its header.
  const auto ready = files.exists(path) ? log->load(fences) : log->rewrite(fences);
  if (!ready) return tl::unexpected(ready.error());
  return log;
}

Result<Done> FenceLog::load(Fences& fences) {
  auto file = files_.open(path_, Files::Mode::kReadWrite);
  if (!file) return tl::unexpected(file.error());
  file_ = std::move(*file);
  const auto size = file_->size();
  if (!size) return tl::unexpected(size.error());
  std::string text(*size, '\0');
  const auto read = file_->read_at(0, absl::MakeSpan(text));
  if (!read) return tl::unexpected(read.error());
  text.resize(*read);
  if (!text.starts_with(kFenceHeader)) return fail_with(ErrorCode::kInvalid, "{} is no file of fences", path_);
  std::size_t at = kFenceHeader.size();
  while (at < text.size()) {
    const std::size_t length = read_fence(std::string_view(text).substr(at), at, fences);
    if (length == 0) break;
    at += length;
  }
  if (text.size() - at > kRecordMax) {
    return fail_with(ErrorCode::kInvalid, "{} is damaged at byte {}: restore it, or begin anew with higher fences",
                     path_, at);
  }
  size_ = at;
  size_when_rewritten_ = at;
  // What the process before left unsynced is now relied upon.
  if (at < text.size()) {
    if (auto cut = file_->resize(at); !cut) return cut;
  }
  return file_->sync();
}

Result<Done> FenceLog::append(std::string_view resource, Fence fence, const Fences& all) {
  if (size_ > size_when_rewritten_ + std::max(kGrowthMax, size_when_rewritten_)) return rewrite(all);
  std::string record;
  append_fence(record, size_, resource, fence);
  if (auto written = file_->write_at(size_, record); !written) return written;
  if (auto synced = file_->sync(); !synced) return synced;
  size_ += record.size();
  return Done{};
}

Result<Done> FenceLog::rewrite(const Fences& fences) {
  const std::string made = path_ + ".new";
  if (files_.exists(made)) {
    if (auto removed = files_.remove(made); !removed) return removed;
  }
  std::string text(kFenceHeader);
  for (const auto& [resource, fence] : fences) append_fence(text, text.size(), resource, fence);
  auto file = files_.open(made, Files::Mode::kCreate);
  if (!file) return tl::unexpected(file.error());
  if (auto written = (*file)->write_at(0, text); !written) return written;
  if (auto synced = (*file)->sync(); !synced) return synced;
  if (auto renamed = files_.rename(made, path_); !renamed) return renamed;
  if (auto synced = files_.sync_folder(folder_of(path_)); !synced) return synced;
  file_ = std::move(*file);
  size_ = text.size();
  size_when_rewritten_ = text.size();
  return Done{};
}

}  // namespace tenure

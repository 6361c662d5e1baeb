#include "cli/right_sized_files.h"

#include <algorithm>
#include <cerrno>

namespace tenure::cli {
namespace {

constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 20;

tl::unexpected<Failure> read_only(std::string_view operation, const std::string& path) {
  return file_failure(operation, path, EROFS);
}

// One thread.
class RightSizedFile final : public File {
 public:
  RightSizedFile(std::unique_ptr<File> file, std::uint64_t size)
      : File(file->path()), file_(std::move(file)), size_(size) {}

  Result<std::size_t> read_at(std::uint64_t offset, absl::Span<char> into) override {
    if (offset >= size_) return std::size_t{0};
    into = into.subspan(0, std::min<std::uint64_t>(into.size(), size_ - offset));
    auto read = file_->read_at(offset, into);
    if (!read) return read;
    std::fill(into.begin() + static_cast<std::ptrdiff_t>(*read), into.end(), '\0');
    return into.size();
  }
  Result<std::uint64_t> size() override { return size_; }
  Result<Done> sync() override { return file_->sync(); }
  Result<Done> write_at(std::uint64_t /*offset*/, std::string_view /*bytes*/) override {
    return read_only("write", path());
  }
  Result<Done> resize(std::uint64_t /*size*/) override { return read_only("resize", path()); }

 private:
  const std::unique_ptr<File> file_;
  const std::uint64_t size_;
};

Result<Done> copy_bytes(File& from, File& to, std::uint64_t bytes) {
  std::string piece;
  for (std::uint64_t at = 0; at < bytes; at += kChunkBytes) {
    piece.assign(std::min(kChunkBytes, bytes - at), '\0');
    const auto read = from.read_at(at, absl::MakeSpan(piece));
    if (!read) return tl::unexpected(read.error());
    if (auto written = to.write_at(at, std::string_view(piece).substr(0, *read)); !written) return written;
  }
  return to.sync();
}

Result<Done> append_zeros(File& file, std::uint64_t from, std::uint64_t to) {
  const std::string zeros(std::min(kChunkBytes, to - from), '\0');
  for (std::uint64_t at = from; at < to; at += kChunkBytes) {
    const auto piece = std::string_view(zeros).substr(0, std::min(kChunkBytes, to - at));
    if (auto written = file.write_at(at, piece); !written) return written;
  }
  return Done{};
}

}  // namespace

Result<std::vector<WrongSize>> find_wrong_sizes(Files& files, const std::vector<SegmentFile>& segments) {
  std::vector<WrongSize> wrong;
  for (const SegmentFile& segment : segments) {
    const auto file = files.open(segment.path, Files::Mode::kRead);
    if (!file) return tl::unexpected(file.error());
    std::string bytes(kSegmentHeaderBytes, '\0');
    const auto read = (*file)->read_at(0, absl::MakeSpan(bytes));
    if (!read) return tl::unexpected(read.error());
    const auto size = (*file)->size();
    if (!size) return tl::unexpected(size.error());
    const auto header = SegmentHeader::decode(std::string_view(bytes).substr(0, *read), segment.path);
    if (header && header->bytes != *size) wrong.push_back({segment, header->bytes, *size});
  }
  return wrong;
}

Result<Done> right_size(Files& files, const WrongSize& wrong, const std::string& copy) {
  const auto file = files.open(wrong.segment.path, Files::Mode::kReadWrite);
  if (!file) return tl::unexpected(file.error());
  const auto kept = files.open(copy, Files::Mode::kCreate);
  if (!kept) return tl::unexpected(kept.error());
  auto done = copy_bytes(**file, **kept, wrong.found);
  if (done) done = files.sync_folder(folder_of(copy));
  if (!done) return done;
  done = wrong.found > wrong.expected ? (*file)->resize(wrong.expected)
                                      : append_zeros(**file, wrong.found, wrong.expected);
  if (done) done = (*file)->sync();
  return done;
}

const WrongSize* RightSizedFiles::find(const std::string& path) const {
  const auto found =
      std::find_if(wrong_.begin(), wrong_.end(), [&](const WrongSize& wrong) { return wrong.segment.path == path; });
  return found == wrong_.end() ? nullptr : &*found;
}

Result<std::unique_ptr<File>> RightSizedFiles::open(const std::string& path, Mode mode) {
  if (mode != Mode::kRead) return read_only("open", path);
  auto file = files_.open(path, mode);
  const WrongSize* wrong = find(path);
  if (!file || wrong == nullptr) return file;
  return std::make_unique<RightSizedFile>(std::move(*file), wrong->expected);
}

Result<std::uint64_t> RightSizedFiles::size_of(const std::string& path) {
  const WrongSize* wrong = find(path);
  return wrong != nullptr ? wrong->expected : files_.size_of(path);
}

Result<Done> RightSizedFiles::rename(const std::string& from, const std::string& /*to*/) {
  return read_only("rename", from);
}
Result<Done> RightSizedFiles::remove(const std::string& path) { return read_only("remove", path); }
Result<Done> RightSizedFiles::make_folder(const std::string& path) { return read_only("make folder", path); }
Result<Done> RightSizedFiles::sync_folder(const std::string& path) { return read_only("sync folder", path); }
Result<std::unique_ptr<FileLock>> RightSizedFiles::lock(const std::string& path) { return read_only("lock", path); }

}  // namespace tenure::cli

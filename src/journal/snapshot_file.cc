#include "journal/snapshot_file.h"

#include <algorithm>

#include <zstd.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/text.h"
#include "journal/file_names.h"

namespace tenure {
namespace {

constexpr std::string_view kSnapshotMagic = "TENURE-S";
constexpr std::uint64_t kHeaderBytes = 56;  // magic, version, journal id, sequence, chain, checksum
constexpr std::uint64_t kFooterBytes = 64;  // index offset, index bytes, index checksum, pairs, digest, checksum, magic
constexpr std::size_t kDigestBytes = 16;
constexpr std::size_t kBlockBytes = 64 << 10;
constexpr std::uint64_t kSyncBytes = std::uint64_t{8} << 20;  // a sync of more would hold up the journal's
constexpr std::uint64_t kBlockBytesMax = std::uint64_t{1} << 31;
constexpr int kLevel = 1;

std::string encode_header(const SnapshotMark& mark) {
  std::string bytes(kSnapshotMagic);
  {
    ByteWriter out(bytes, kHeaderBytes - kSnapshotMagic.size() - 8);
    out.fixed64(kFormatVersion);
    out.fixed64(mark.journal.high);
    out.fixed64(mark.journal.low);
    out.fixed64(mark.sequence);
    out.fixed64(mark.chain);
  }
  const std::uint64_t checksum = hash64(bytes);
  ByteWriter(bytes, 8).fixed64(checksum);
  return bytes;
}

template <class... Args>
tl::unexpected<Failure> bad(const std::string& path, fmt::format_string<Args...> text, Args&&... args) {
  return fail_with(ErrorCode::kInvalid, "{}: {}", path, fmt::format(text, std::forward<Args>(args)...));
}

Result<SnapshotMark> decode_header(std::string_view bytes, const std::string& path) {
  if (!bytes.starts_with(kSnapshotMagic))
    return bad(path, "expected a snapshot of a Tenure journal, found other bytes");
  ByteReader in(bytes.substr(kSnapshotMagic.size()));
  const std::uint64_t version = in.fixed64();
  SnapshotMark mark;
  mark.journal.high = in.fixed64();
  mark.journal.low = in.fixed64();
  mark.sequence = in.fixed64();
  mark.chain = in.fixed64();
  if (in.fixed64() != hash64(bytes.substr(0, kHeaderBytes - 8))) return bad(path, "the header's checksum is wrong");
  if (version != kFormatVersion) {
    return bad(path, "expected format version {}, found {}; use a version of tenure that knows it", kFormatVersion,
               version);
  }
  return mark;
}

void append_pair(std::string& block, std::string_view key, std::string_view value) {
  ByteWriter out(block, varint_size(key.size()) + key.size() + varint_size(value.size()) + value.size());
  out.bytes(key);
  out.bytes(value);
}

}  // namespace

// --- writing ---

SnapshotWriter::SnapshotWriter(Files& files, std::string folder, const SnapshotMark& mark, std::unique_ptr<File> file)
    : files_(files), folder_(std::move(folder)), mark_(mark), file_(std::move(file)) {}

Result<std::unique_ptr<SnapshotWriter>> SnapshotWriter::create(Files& files, const std::string& folder,
                                                               const SnapshotMark& mark) {
  const std::string path = path_of(folder, kSnapshotDraftName);
  if (files.exists(path)) {
    if (auto removed = files.remove(path); !removed) return tl::unexpected(removed.error());
  }
  auto file = files.open(path, Files::Mode::kCreate);
  if (!file) return tl::unexpected(file.error());
  std::unique_ptr<SnapshotWriter> writer(new SnapshotWriter(files, folder, mark, std::move(*file)));
  if (auto written = writer->write(encode_header(mark)); !written) return tl::unexpected(written.error());
  return writer;
}

Result<Done> SnapshotWriter::write(std::string_view bytes) {
  if (auto written = file_->write_at(offset_, bytes); !written) return written;
  offset_ += bytes.size();
  if (offset_ - synced_ < kSyncBytes) return Done{};
  synced_ = offset_;
  return file_->sync();
}

Result<Done> SnapshotWriter::add(std::string_view key, std::string_view value) {
  TENURE_CHECK(pairs_ == 0 || last_key_ < key, "keys out of order");
  if (block_.empty()) first_key_ = key;
  append_pair(block_, key, value);
  last_key_ = key;
  ++pairs_;
  return block_.size() < kBlockBytes ? Done{} : end_block();
}

Result<Done> SnapshotWriter::end_block() {
  if (block_.empty()) return Done{};
  packed_.resize(ZSTD_compressBound(block_.size()));
  const std::size_t size = ZSTD_compress(packed_.data(), packed_.size(), block_.data(), block_.size(), kLevel);
  TENURE_CHECK(ZSTD_isError(size) == 0, "zstd: {}", ZSTD_getErrorName(size));
  packed_.resize(size);
  {
    ByteWriter out(index_, varint_size(first_key_.size()) + first_key_.size() + 4 * 8);
    out.bytes(first_key_);
    out.fixed64(offset_);
    out.fixed64(packed_.size());
    out.fixed64(block_.size());
    out.fixed64(hash64(packed_));
  }
  block_.clear();
  return write(packed_);
}

Result<std::unique_ptr<Snapshot>> SnapshotWriter::complete(std::string_view digest) {
  TENURE_CHECK(digest.size() == kDigestBytes, "a digest of {} bytes", digest.size());
  auto done = end_block();
  std::string footer;
  {
    ByteWriter out(footer, 4 * 8);
    out.fixed64(offset_);
    out.fixed64(index_.size());
    out.fixed64(hash64(index_));
    out.fixed64(pairs_);
  }
  footer.append(digest);
  const std::uint64_t checksum = hash64(footer);
  ByteWriter(footer, 8).fixed64(checksum);
  footer.append(kSnapshotMagic);
  if (done) done = write(index_);
  if (done) done = write(footer);
  if (done) done = file_->sync();
  if (!done) return tl::unexpected(done.error());
  auto reader = SnapshotReader::open(files_, file_->path());
  if (!reader) return tl::unexpected(reader.error());
  is_complete_ = true;
  return std::move(*reader);
}

Result<Done> SnapshotWriter::publish() {
  TENURE_CHECK(is_complete_, "a snapshot that is not complete");
  auto done = files_.rename(file_->path(), snapshot_path(folder_, mark_.sequence));
  is_published_ = done.has_value();
  if (done) done = files_.sync_folder(folder_);
  return done;
}

// As far as it can be: the next one removes what is left.
SnapshotWriter::~SnapshotWriter() {
  if (!is_published_) static_cast<void>(files_.remove(file_->path()));
}

// --- reading ---

Result<std::unique_ptr<SnapshotReader>> SnapshotReader::open(Files& files, const std::string& path) {
  auto file = files.open(path, Files::Mode::kRead);
  if (!file) return tl::unexpected(file.error());
  std::unique_ptr<SnapshotReader> reader(new SnapshotReader(std::move(*file)));
  if (auto read = reader->read_index(); !read) return tl::unexpected(read.error());
  return reader;
}

Result<std::string> SnapshotReader::read(std::uint64_t offset, std::uint64_t bytes) {
  std::string into(bytes, '\0');
  const auto found = file_->read_at(offset, absl::MakeSpan(into));
  if (!found) return tl::unexpected(found.error());
  if (*found != bytes) return bad(path(), "offset {}: expected {} bytes, found {}", offset, bytes, *found);
  return into;
}

Result<Done> SnapshotReader::read_index() {
  const auto size = file_->size();
  if (!size) return tl::unexpected(size.error());
  bytes_ = *size;
  if (bytes_ < kHeaderBytes + kFooterBytes) return bad(path(), "expected a whole snapshot, found {} bytes", bytes_);
  const auto header = read(0, kHeaderBytes);
  const auto footer = read(bytes_ - kFooterBytes, kFooterBytes);
  if (!header) return tl::unexpected(header.error());
  if (!footer) return tl::unexpected(footer.error());
  const auto mark = decode_header(*header, path());
  if (!mark) return tl::unexpected(mark.error());
  mark_ = *mark;

  ByteReader in(*footer);
  const std::uint64_t offset = in.fixed64();
  const std::uint64_t index_bytes = in.fixed64();
  const std::uint64_t index_checksum = in.fixed64();
  pairs_ = in.fixed64();
  digest_ = in.raw(kDigestBytes);
  const std::uint64_t checksum = in.fixed64();
  if (checksum != hash64(std::string_view(*footer).substr(0, kFooterBytes - 16)) ||
      !footer->ends_with(kSnapshotMagic)) {
    return bad(path(), "offset {}: the footer's checksum is wrong", bytes_ - kFooterBytes);
  }
  // Whatever the numbers are, none of their sums may overflow.
  const std::uint64_t index_end = bytes_ - kFooterBytes;
  if (offset < kHeaderBytes || offset > index_end || index_bytes != index_end - offset) {
    return bad(path(), "expected an index that ends at offset {}, found one of {} bytes at offset {}", index_end,
               index_bytes, offset);
  }
  const auto index = read(offset, index_bytes);
  if (!index) return tl::unexpected(index.error());
  if (hash64(*index) != index_checksum) return bad(path(), "offset {}: the index's checksum is wrong", offset);
  ByteReader rows(*index);
  while (!rows.at_end()) {
    Block block;
    block.first_key = rows.bytes();
    block.offset = rows.fixed64();
    block.packed_bytes = rows.fixed64();
    block.raw_bytes = rows.fixed64();
    block.checksum = rows.fixed64();
    if (!rows.ok() || block.packed_bytes > offset || block.offset > offset - block.packed_bytes ||
        block.raw_bytes > kBlockBytesMax) {
      return bad(path(), "offset {}: the index is wrong", offset);
    }
    blocks_.push_back(std::move(block));
  }
  return Done{};
}

Result<Done> SnapshotReader::unpack(std::size_t which) {
  if (unpacked_ == which) return Done{};
  unpacked_.reset();
  sought_.clear();
  passed_ = 0;
  const Block& block = blocks_[which];
  const auto packed = read(block.offset, block.packed_bytes);
  if (!packed) return tl::unexpected(packed.error());
  if (hash64(*packed) != block.checksum) return bad(path(), "offset {}: a block's checksum is wrong", block.offset);
  raw_.resize(block.raw_bytes);
  const std::size_t size = ZSTD_decompress(raw_.data(), raw_.size(), packed->data(), packed->size());
  if (ZSTD_isError(size) != 0 || size != raw_.size()) {
    return bad(path(), "offset {}: a block cannot be unpacked", block.offset);
  }
  unpacked_ = which;
  return Done{};
}

// Who asks for one key after the other, in their order, passes each pair once.
std::string_view SnapshotReader::seek(std::string_view key) {
  if (key < sought_) passed_ = 0;
  sought_ = key;
  ByteReader in(std::string_view(raw_).substr(passed_));
  while (!in.at_end()) {
    const bool is_before = in.bytes() < key;
    in.bytes();
    if (!is_before || !in.ok()) break;
    passed_ = raw_.size() - in.left();
  }
  return std::string_view(raw_).substr(passed_);
}

Result<Done> SnapshotReader::visit(std::string_view prefix, Visit visit) {
  // The last block that begins before the prefix may hold the first pair.
  auto begin = std::lower_bound(blocks_.begin(), blocks_.end(), prefix,
                                [](const Block& block, std::string_view key) { return block.first_key < key; });
  if (begin != blocks_.begin()) --begin;
  for (auto block = begin; block != blocks_.end(); ++block) {
    if (block->first_key > prefix && !block->first_key.starts_with(prefix)) return Done{};
    if (auto unpacked = unpack(static_cast<std::size_t>(block - blocks_.begin())); !unpacked) return unpacked;
    ByteReader in(seek(prefix));
    while (!in.at_end()) {
      const std::string_view key = in.bytes();
      const std::string_view value = in.bytes();
      if (!in.ok()) return bad(path(), "offset {}: a block's pairs are wrong", block->offset);
      if (!key.starts_with(prefix)) return Done{};
      if (auto visited = visit(key, value); !visited) return visited;
    }
  }
  return Done{};
}

Result<Done> SnapshotReader::verify() {
  std::uint64_t pairs = 0;
  auto read = visit("", [&](std::string_view, std::string_view) -> Result<Done> {
    ++pairs;
    return Done{};
  });
  if (read && pairs != pairs_) return bad(path(), "expected {} pairs, found {}", pairs_, pairs);
  return read;
}

std::string snapshot_path(const std::string& folder, std::uint64_t sequence) {
  return path_of(folder, numbered_name(sequence, kSnapshotSuffix));
}

Result<std::vector<std::uint64_t>> find_snapshots(Files& files, const std::string& folder) {
  const auto names = files.list(folder);
  if (!names) return tl::unexpected(names.error());
  std::vector<std::uint64_t> frames;
  for (const std::string& name : *names) {
    if (const auto frame = number_in(name, kSnapshotSuffix)) frames.push_back(*frame);
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

}  // namespace tenure

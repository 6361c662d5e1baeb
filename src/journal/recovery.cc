#include "journal/recovery.h"

#include <algorithm>

#include "base/planted.h"
#include "journal/file_names.h"

namespace tenure {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;

// Walks one segment after the other.
class Walker {
 public:
  Walker(Files& files, std::vector<SegmentFile> segments, FrameRange range, Journal::Visit visit,
         const std::optional<SnapshotMark>& mark, Files::Mode mode)
      : files_(files), segments_(std::move(segments)), range_(range), visit_(visit), mark_(mark), mode_(mode) {}

  Result<JournalEnd> run() {
    for (std::size_t i = first_needed(); i < segments_.size(); ++i) {
      if (auto entered = enter(segments_[i]); !entered) return tl::unexpected(entered.error());
      if (auto read = read_frames(); !read) return tl::unexpected(read.error());
      end_.offset = reader_->offset();
      if (is_through()) break;
      if (auto judged = look_at_tail(i + 1 == segments_.size()); !judged) return tl::unexpected(judged.error());
      if (end_.tail != Tail::kClean) break;
    }
    return end_;
  }

 private:
  // The last segment that begins with or before the first frame that is asked for.
  [[nodiscard]] std::size_t first_needed() const {
    std::size_t needed = 0;
    while (needed + 1 < segments_.size() && segments_[needed + 1].first <= range_.after + 1) ++needed;
    return needed;
  }

  Result<Done> enter(const SegmentFile& file) {
    const bool is_first = reader_ == nullptr;
    auto reader = SegmentReader::open(files_, file.path, mode_);
    if (!reader) return tl::unexpected(reader.error());
    const SegmentHeader& header = (*reader)->header();
    if (header.first != file.first) {
      return fail_with(ErrorCode::kInvalid, "{}: expected the segment that begins with {}, as its name says, found {}",
                       file.path, file.first, header.first);
    }
    if (is_first) {
      end_.next = header.first;
      end_.chain = header.chain;
    } else if (header.journal != end_.segment.journal) {
      return fail_with(ErrorCode::kInvalid, "{}: expected a segment of journal {}, found one of journal {}", file.path,
                       end_.segment.journal.text(), header.journal.text());
    } else if (header.first != end_.next) {
      return fail_with(ErrorCode::kInvalid,
                       "{}: expected the segment that begins with {}, found one that begins with {}; frames between "
                       "them are missing",
                       file.path, end_.next, header.first);
    } else if (header.chain != end_.chain) {
      return fail_with(ErrorCode::kInvalid,
                       "{}: expected a segment that continues from frame {}, found one that continues from another",
                       file.path, end_.next - 1);
    }
    reader_ = std::move(*reader);
    end_.path = file.path;
    end_.segment = header;
    end_.batch = header.first;
    end_.batch_offset = kSegmentHeaderBytes;
    return Done{};
  }

  [[nodiscard]] bool is_through() const { return end_.next > range_.upto; }

  Result<Done> read_frames() {
    while (!is_through()) {
      auto frame = reader_->peek();
      if (!frame) return tl::unexpected(frame.error());
      if (!frame->has_value() || !is_next((*frame)->header)) {
        const auto found = mark_ && end_.next <= mark_->sequence ? find_mark() : false;
        if (!found) return tl::unexpected(found.error());
        if (!*found) return Done{};
        continue;
      }
      const auto& [header, payload] = **frame;
      if (header.sequence > range_.after) {
        if (auto visited = visit_({header.sequence, header.stamp, payload}); !visited) return visited;
        ++end_.frames;
      }
      if (header.batch == header.sequence) end_.batch_offset = reader_->offset();
      end_.batch = header.batch;
      end_.is_vouched = payload.empty();
      end_.next = header.sequence + 1;
      end_.chain = header.checksum;
      end_.last_stamp = header.stamp;
      reader_->skip(**frame);
    }
    return Done{};
  }

  // Goes to the place behind the mark's frame, past what is damaged. That frame has the mark's checksum, and the one
  // behind it continues from that. False: there is neither.
  Result<bool> find_mark() {
    const std::uint64_t back = reader_->offset();
    while (true) {
      const auto nonzero = reader_->find_nonzero();
      if (!nonzero) return tl::unexpected(nonzero.error());
      if (!nonzero->has_value()) break;
      reader_->go_to(**nonzero / kFrameAlign * kFrameAlign);
      const auto header = reader_->peek_header();
      if (!header) return tl::unexpected(header.error());
      const bool is_it = *header && (*header)->sequence == mark_->sequence && (*header)->checksum == mark_->chain;
      const bool is_next = *header && (*header)->sequence == mark_->sequence + 1 && (*header)->previous == mark_->chain;
      if (is_it || is_next) {
        const auto frame = reader_->peek();
        if (!frame) return tl::unexpected(frame.error());
        if (frame->has_value()) {
          stand_behind_mark(**frame, is_it);
          return true;
        }
      }
      reader_->skip_bytes(kFrameAlign);
    }
    reader_->go_to(back);
    return false;
  }

  void stand_behind_mark(const SealedFrame& frame, bool is_its_own) {
    end_.next = mark_->sequence + 1;
    end_.chain = mark_->chain;
    end_.batch = frame.header.batch;
    end_.batch_offset = reader_->offset();  // or before: what a snapshot holds is durable
    end_.last_stamp = frame.header.stamp;
    end_.is_vouched = is_its_own && frame.payload.empty();
    if (is_its_own) reader_->skip(frame);
  }

  // A frame begins a batch, or goes on with the one before it.
  [[nodiscard]] bool is_next(const FrameHeader& header) const {
    return header.sequence == end_.next && header.previous == end_.chain &&
           (header.batch == header.sequence || header.batch == end_.batch);
  }

  Result<Done> look_at_tail(bool in_last_segment) {
    TailEvidence evidence{.in_last_segment = in_last_segment, .next = end_.next};
    const auto nonzero = reader_->find_nonzero();
    if (!nonzero) return tl::unexpected(nonzero.error());
    evidence.is_blank = !nonzero->has_value();
    if (!evidence.is_blank) {
      if (auto scanned = scan_tail(evidence); !scanned) return scanned;
    }
    end_.tail = judge(evidence);
    if (end_.tail == Tail::kClean) return Done{};
    end_.why = fmt::format("{}, offset {}: expected frame {}, found ", end_.path, end_.offset, end_.next);
    if (evidence.latest_batch > end_.next) {
      end_.why +=
          fmt::format("no valid one, but behind it frames of batch {}, which was begun later", evidence.latest_batch);
    } else if (!in_last_segment) {
      end_.why += "no valid one, but a later segment";
    } else {
      end_.why += "one that is not whole";
    }
    return Done{};
  }

  // Looks for frames at every place where one may begin.
  Result<Done> scan_tail(TailEvidence& evidence) {
    while (true) {
      const auto nonzero = reader_->find_nonzero();
      if (!nonzero) return tl::unexpected(nonzero.error());
      if (!nonzero->has_value()) return Done{};
      reader_->skip_bytes(**nonzero / kFrameAlign * kFrameAlign - reader_->offset());
      const auto frame = reader_->peek();
      if (!frame) return tl::unexpected(frame.error());
      if (frame->has_value()) evidence.latest_batch = std::max(evidence.latest_batch, (*frame)->header.batch);
      reader_->skip_bytes(frame->has_value() ? (*frame)->bytes() : kFrameAlign);
      end_.tail_bytes = reader_->offset() - end_.offset;
    }
  }

  Files& files_;
  const std::vector<SegmentFile> segments_;
  const FrameRange range_;
  const Journal::Visit visit_;
  const std::optional<SnapshotMark> mark_;
  const Files::Mode mode_;
  std::unique_ptr<SegmentReader> reader_;
  JournalEnd end_;
};

}  // namespace

Tail judge(const TailEvidence& evidence) {
  if (evidence.is_blank) return Tail::kClean;
  if (!evidence.in_last_segment) return Tail::kDamaged;
  if (is_planted(PlantedBug::kTornTailInMidJournal)) return Tail::kTorn;
  return evidence.latest_batch > evidence.next ? Tail::kDamaged : Tail::kTorn;
}

Result<std::vector<SegmentFile>> find_segments(Files& files, const std::string& folder) {
  const auto names = files.list(folder);
  if (!names) return tl::unexpected(names.error());
  std::vector<SegmentFile> segments;
  for (const std::string& name : *names) {
    if (const auto first = number_in(name, kSegmentSuffix)) segments.push_back({*first, path_of(folder, name)});
  }
  return segments;
}

Result<JournalEnd> walk(Files& files, const std::string& folder, FrameRange range, Journal::Visit visit,
                        const std::optional<SnapshotMark>& mark, Files::Mode mode) {
  auto segments = find_segments(files, folder);
  if (!segments) return tl::unexpected(segments.error());
  if (segments->empty()) {
    return fail_with(ErrorCode::kInvalid, "{}: expected a journal, found no segment (*{})", folder, kSegmentSuffix);
  }
  if (segments->front().first > range.after + 1) {
    return fail_with(ErrorCode::kInvalid, "{}: expected the segment with frame {}, found that the first begins with {}",
                     folder, range.after + 1, segments->front().first);
  }
  return Walker(files, std::move(*segments), range, visit, mark, mode).run();
}

tl::unexpected<Failure> refuse_damage(const std::string& folder, const JournalEnd& end) {
  return refuse_damage(folder, Failure{ErrorCode::kInvalid, end.why});
}

tl::unexpected<Failure> refuse_damage(const std::string& folder, const Failure& failure) {
  if (failure.code != ErrorCode::kInvalid) return tl::unexpected(failure);
  return fail_with(
      failure.code,
      "the journal is damaged: {}. Nothing was changed. Restore a backup, or keep what can be kept: tenure "
      "journal repair --accept-loss {} (without --accept-loss it only looks)",
      failure.message, folder);
}

namespace {

// The segment up to its end, and zeros behind it.
Result<Done> copy_segment(Files& files, const JournalEnd& end, const std::string& to) {
  const auto segment = files.open(end.path, Files::Mode::kRead);
  if (!segment) return tl::unexpected(segment.error());
  const auto copy = files.open(to, Files::Mode::kCreate);
  if (!copy) return tl::unexpected(copy.error());
  std::string piece;
  for (std::uint64_t at = 0; at < end.segment.bytes; at += piece.size()) {
    piece.assign(std::min(kPieceBytes, end.segment.bytes - at), '\0');
    if (at < end.offset) {
      const std::size_t used = std::min<std::size_t>(piece.size(), end.offset - at);
      const auto read = (*segment)->read_at(at, absl::MakeSpan(piece).subspan(0, used));
      if (!read) return tl::unexpected(read.error());
      if (*read != used) return fail_with(ErrorCode::kUnavailable, "{}: expected more bytes, found its end", end.path);
    }
    if (auto written = (*copy)->write_at(at, piece); !written) return written;
  }
  return (*copy)->sync();
}

}  // namespace

Result<Done> rewrite_last_segment(Files& files, const std::string& folder, const JournalEnd& end) {
  const std::string path = path_of(folder, kRewrittenName);
  auto done = copy_segment(files, end, path);
  if (done) done = files.rename(path, end.path);
  if (!done) static_cast<void>(files.remove(path));
  if (done) done = files.sync_folder(folder);
  return done;
}

Result<Done> rewrite_last_batch(Files& files, const JournalEnd& end) {
  const auto segment = files.open(end.path, Files::Mode::kReadWrite);
  if (!segment) return tl::unexpected(segment.error());
  std::string piece;
  for (std::uint64_t at = end.batch_offset; at < end.offset; at += piece.size()) {
    piece.assign(std::min(kPieceBytes, end.offset - at), '\0');
    const auto read = (*segment)->read_at(at, absl::MakeSpan(piece));
    if (!read) return tl::unexpected(read.error());
    if (auto written = (*segment)->write_at(at, std::string_view(piece).substr(0, *read)); !written) return written;
  }
  return (*segment)->sync();
}

Result<std::string> cut_tail(Files& files, const std::string& folder, const JournalEnd& end) {
  // A crash may have come between an earlier copy and the end of its cut: that copy is the better one, and stays.
  std::string name = numbered_name(end.next, kTornSuffix);
  for (int i = 2; files.exists(path_of(folder, name)); ++i) {
    name = numbered_name(end.next, fmt::format("-{}{}", i, kTornSuffix));
  }
  std::string path = path_of(folder, name);
  // First: a copy of nothing would be taken for the better one.
  auto segment = files.open(end.path, Files::Mode::kReadWrite);
  if (!segment) return tl::unexpected(segment.error());
  auto copy = files.open(path, Files::Mode::kCreate);
  if (!copy) return tl::unexpected(copy.error());

  std::string piece;
  const auto each_piece = [&](auto do_piece) -> Result<Done> {
    for (std::uint64_t at = 0; at < end.tail_bytes; at += kPieceBytes) {
      piece.assign(std::min(kPieceBytes, end.tail_bytes - at), '\0');
      if (auto done = do_piece(at); !done) return done;
    }
    return Done{};
  };
  auto done = each_piece([&](std::uint64_t at) -> Result<Done> {
    const auto read = (*segment)->read_at(end.offset + at, absl::MakeSpan(piece));
    if (!read) return tl::unexpected(read.error());
    return (*copy)->write_at(at, std::string_view(piece).substr(0, *read));
  });
  if (done) done = (*copy)->sync();
  if (done) done = files.sync_folder(folder);
  if (!done) {
    static_cast<void>(files.remove(path));
    return fail_with(done.error().code, "{}. A copy of what a crash tore is kept before it is cut: it needs {} bytes",
                     done.error().message, end.tail_bytes);
  }
  done = each_piece([&](std::uint64_t at) { return (*segment)->write_at(end.offset + at, piece); });
  if (done) done = (*segment)->sync();
  if (!done) return tl::unexpected(done.error());
  return path;
}

}  // namespace tenure

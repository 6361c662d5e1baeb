#include "image.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/check.h"
#include "journal/recovery.h"
#include "journal/segment.h"

namespace tenure {
namespace {

SegmentImage read_segment(FaultyFiles& files, const std::string& path) {
  SegmentImage image{.path = path, .bytes = files.contents(path), .frames = {}};
  auto reader = SegmentReader::open(files, path);
  TENURE_CHECK(reader.has_value(), "{}", reader.error().message);
  while (true) {
    const auto frame = (*reader)->peek();
    if (!frame.value()) return image;
    const FrameHeader& header = (*frame)->header;
    image.frames.push_back({(*reader)->offset(), (*frame)->bytes(), header.sequence, header.batch});
    (*reader)->skip(**frame);
  }
}

bool differs(std::string_view before, std::string_view after, std::uint64_t offset, std::uint64_t bytes) {
  return before.substr(offset, bytes) != after.substr(offset, bytes);
}

Fate fate_of_last(const SegmentImage& before, const std::string& after, std::uint64_t last) {
  if (differs(before.bytes, after, 0, kSegmentHeaderBytes)) return {.kind = Fate::Kind::kRefused};
  const auto is_hit = [&](const FrameImage& frame) { return differs(before.bytes, after, frame.offset, frame.bytes); };
  const auto first = std::ranges::find_if(before.frames, is_hit);
  if (first == before.frames.end()) return {.kind = Fate::Kind::kTorn, .frames = last};
  const bool is_vouched = std::any_of(first, before.frames.end(), [&](const FrameImage& frame) {
    return frame.batch > first->sequence && !is_hit(frame);
  });
  if (is_vouched) return {.kind = Fate::Kind::kRefused};
  return {.kind = Fate::Kind::kTorn, .frames = first->sequence - 1};
}

}  // namespace

std::uint64_t SegmentImage::end() const {
  return frames.empty() ? kSegmentHeaderBytes : frames.back().offset + frames.back().bytes;
}

const FrameImage* SegmentImage::frame_at(std::uint64_t offset) const {
  for (const FrameImage& frame : frames) {
    if (offset >= frame.offset && offset < frame.offset + frame.bytes) return &frame;
  }
  return nullptr;
}

std::uint64_t JournalImage::last() const {
  std::uint64_t last = 0;
  for (const SegmentImage& segment : segments) {
    if (!segment.frames.empty()) last = segment.frames.back().sequence;
  }
  return last;
}

std::uint64_t JournalImage::bytes() const {
  std::uint64_t sum = 0;
  for (const SegmentImage& segment : segments) sum += segment.bytes.size();
  return sum;
}

JournalImage image_of(FaultyFiles& files) {
  JournalImage image;
  const auto segments = find_segments(files, kFolder);
  TENURE_CHECK(segments.has_value(), "{}", segments.error().message);
  for (const SegmentFile& segment : *segments) image.segments.push_back(read_segment(files, segment.path));
  return image;
}

Fate fate_of(const JournalImage& image, const Change& change) {
  Fate fate{.kind = Fate::Kind::kSame, .frames = image.last()};
  for (const auto& [index, after] : change) {
    if (image.segments[index].bytes == after) continue;
    if (index + 1 < image.segments.size()) return {.kind = Fate::Kind::kRefused};
    if (image.segments[index].bytes.size() != after.size()) return {.kind = Fate::Kind::kRefused};
    fate = fate_of_last(image.segments[index], after, image.last());
  }
  return fate;
}

std::string Damager::make(const Change& change) {
  ++tally_.changes;
  const Fate fate = fate_of(image_, change);
  if (fate.kind == Fate::Kind::kSame) {
    ++tally_.same;
    return {};
  }
  const auto disk = files_.copy();
  for (const auto& [index, bytes] : change) disk->put(image_.segments[index].path, bytes);
  const FaultyFiles::State before = disk->state();
  const Process process(*disk);
  if (process.is_up()) {
    expect_start(process, fate);
    return {};
  }
  ++tally_.refused;
  EXPECT_EQ(before, disk->state());
  EXPECT_NE(std::string::npos, process.refusal().find(kFolder)) << process.refusal();
  return process.refusal();
}

// Refusing what might have been torn is never wrong; starting on what was not torn always is.
void Damager::expect_start(const Process& process, const Fate& fate) {
  EXPECT_EQ(Fate::Kind::kTorn, fate.kind);
  EXPECT_EQ(fate.frames, process.recovered());
  EXPECT_EQ(promises_.digest_after(process.recovered()), process.digest());
  ++(process.digest() == promises_.digest_after(image_.last()) ? tally_.whole : tally_.shortened);
}

}  // namespace tenure

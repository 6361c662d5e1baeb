// A journal's segments as bytes, where each frame lies in them, and what a change of those bytes must lead to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/faulty_files.h"
#include "process.h"

namespace tenure {

struct FrameImage {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t sequence = 0;
  std::uint64_t batch = 0;
};

struct SegmentImage {
  std::string path;
  std::string bytes;
  std::vector<FrameImage> frames;

  // Behind the last frame.
  [[nodiscard]] std::uint64_t end() const;
  // The frame that this byte is in; null: it is in none.
  [[nodiscard]] const FrameImage* frame_at(std::uint64_t offset) const;
};

struct JournalImage {
  std::vector<SegmentImage> segments;

  [[nodiscard]] std::uint64_t last() const;  // sequence number
  [[nodiscard]] std::uint64_t bytes() const;
};

// Of a journal that is whole, but for its tail.
JournalImage image_of(FaultyFiles& files);

// The new bytes of segments, by their index.
using Change = std::map<std::size_t, std::string>;

// What must come of a change.
struct Fate {
  enum class Kind : std::uint8_t {
    kSame,     // nothing is different
    kRefused,  // something is gone that was durable beyond doubt
    kTorn,     // only what nothing vouches for is different: it is cut
  };
  Kind kind = Kind::kSame;
  std::uint64_t frames = 0;  // those that are left
};
Fate fate_of(const JournalImage& image, const Change& change);

// Makes changes, and starts on what comes of them. One thread.
class Damager {
 public:
  // `files` hold a whole journal whose last batch is vouched for.
  explicit Damager(FaultyFiles& files, Promises promises)
      : files_(files), promises_(std::move(promises)), image_(image_of(files)) {}

  [[nodiscard]] const JournalImage& image() const { return image_; }

  // Expects its fate. What the refusal says is the answer; empty: it started.
  std::string make(const Change& change);
  // The same for one segment.
  std::string make(std::size_t index, std::string bytes) { return make(Change{{index, std::move(bytes)}}); }

  // How many changes there were, and how they ended.
  struct Tally {
    std::uint64_t changes = 0;
    std::uint64_t same = 0;
    std::uint64_t refused = 0;
    std::uint64_t whole = 0;      // started, and has every change
    std::uint64_t shortened = 0;  // started with a torn tail's frames missing
  };
  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  void expect_start(const Process& process, const Fate& fate);

  FaultyFiles& files_;
  const Promises promises_;
  const JournalImage image_;
  Tally tally_;
};

}  // namespace tenure

// What is noted at the authority's back: every frame that it appends, with all that the decision rested on; and every
// request with its answer. The checker judges by it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/entropy.h"
#include "core/digest.h"
#include "journal/forwarding_journal.h"
#include "request.h"

namespace tenure::sim {

// One frame as it was appended.
struct FrameNote {
  std::uint64_t sequence = 0;
  Instant stamp;
  Instant now{};  // by the machine's clocks, not by the authority's word
  std::string payload;
  std::vector<std::uint64_t> draws{};  // of chance, by the decision
  bool has_room = true;                // as the decision was told
  std::uint64_t case_number = 0;       // of the request that was being processed; 0: none
  Digest digest{};                     // of the live state behind it
};

// Numbers that can be given again. One thread.
class NotedEntropy final : public Entropy {
 public:
  explicit NotedEntropy(std::uint64_t seed) : entropy_(seed) {}
  std::uint64_t next() override { return draws_.emplace_back(entropy_.next()); }
  std::uint64_t next_ahead() override { return draws_.emplace_back(entropy_.next_ahead()); }
  // Those since the last time.
  std::vector<std::uint64_t> take() { return std::exchange(draws_, {}); }

 private:
  SeededEntropy entropy_;
  std::vector<std::uint64_t> draws_;
};

// Gives what was noted. One thread.
class RepeatedEntropy final : public Entropy {
 public:
  explicit RepeatedEntropy(const std::vector<std::uint64_t>& draws) : draws_(draws) {}
  // Behind the last one zeros: whoever asks for more decides differently, and that is seen.
  std::uint64_t next() override { return given_ < draws_.size() ? draws_[given_++] : 0; }
  std::uint64_t next_ahead() override { return next(); }

 private:
  const std::vector<std::uint64_t>& draws_;
  std::size_t given_ = 0;
};

// Notes what goes by. One thread.
class NotedJournal final : public ForwardingJournal, private Journal::Listener {
 public:
  using Noted = std::function<void(FrameNote note)>;
  NotedJournal(Journal& journal, Noted noted) : ForwardingJournal(journal), noted_(std::move(noted)) {}

  Result<Done> start(std::uint64_t after, Visit visit) override {
    auto started = ForwardingJournal::start(after, visit);
    last_ = durable();
    return started;
  }
  std::uint64_t append(std::uint64_t epoch, Instant stamp, std::string_view payload) override {
    last_ = ForwardingJournal::append(epoch, stamp, payload);
    noted_({.sequence = last_, .stamp = stamp, .payload = std::string(payload), .has_room = has_room_});
    return last_;
  }
  [[nodiscard]] bool has_room() const override { return has_room_ = ForwardingJournal::has_room(); }
  void listen(Journal::Listener* listener) override {
    listener_ = listener;
    ForwardingJournal::listen(listener == nullptr ? nullptr : this);
  }

  // The last frame that the engine appended.
  [[nodiscard]] std::uint64_t last() const { return last_; }
  // What was last said of the room.
  [[nodiscard]] bool had_room() const { return has_room_; }
  // Why it has failed; empty: it has not.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  void on_durable(std::uint64_t sequence) override { listener_->on_durable(sequence); }
  void on_failed(Outcome outcome, const std::string& why) override {
    failure_ = why;
    listener_->on_failed(outcome, why);
  }

  const Noted noted_;
  std::uint64_t last_ = 0;
  mutable bool has_room_ = true;
  Journal::Listener* listener_ = nullptr;
  std::string failure_;
};

// One request that reached the authority, and what became of it.
struct Case {
  std::uint64_t number = 0;
  std::shared_ptr<const Letter> letter;
  std::uint64_t floor = 0;  // the frame that answers given before it was sent rested on
  Instant stamp;
  std::uint64_t before = 0;  // the last frame when it arrived,
  std::uint64_t after = 0;   // and when it had been processed
  bool has_room = true;
  bool is_joined = false;  // its session, and with what grace
  Millis grace{0};

  std::int64_t others_waiting = 0;  // when it arrived

  // Of one that waits.
  bool waits = false;
  std::uint64_t place = 0;  // in the order of those who wait
  bool is_superseded = false;
  std::optional<std::uint64_t> cancelled_at{};  // the last frame by then

  std::optional<Reply> reply{};
  std::string reply_text{};
  std::uint64_t durable_at_reply = 0;
  Instant replied_at{};

  // What it should be answered, by the frames, and the frame that makes it so.
  std::optional<std::string> expected{};
  std::uint64_t position = 0;
  bool has_frame = false;             // of its own
  std::uint64_t inherited_place = 0;  // of the request that it repeats, if that still waited
};

}  // namespace tenure::sim

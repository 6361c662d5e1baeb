// What a peer is told and what it has to answer. The load (load.h) knows connections, lanes and time; a speech knows
// the words of one peer for one kind of work.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::bench {

using Instant = std::chrono::steady_clock::time_point;

// Does one cycle after the other, beside all others. Numbered from 0, over all connections.
using Lane = std::size_t;

struct Plan {
  std::string peer;
  std::string work;
  std::size_t connections = 50;
  std::size_t depth = 1;  // lanes of each connection
  double seconds = 3;
  double warm_up_seconds = 0.5;
  std::string run;  // part of every name, so that no run meets what an earlier one left

  [[nodiscard]] std::size_t lanes() const { return connections * depth; }
};

// A lane's turn to speak: it asks on, or its cycle is over. One thread.
class Turn {
 public:
  Turn(std::string& output, Instant begun, Instant now) : output_(output), begun_(begun), now_(now) {}

  // To be appended to: one more request, which is replied to once.
  std::string& ask() {
    ++asked_;
    return output_;
  }
  // The cycle is over; it did so many units of work in the time since it began.
  void finish(std::size_t units = 1) {
    took_since(begun_);
    finish_untimed(units);
  }
  void finish_untimed(std::size_t units = 1) {
    units_ = units;
    is_over_ = true;
  }
  // The cycle is over and did nothing that counts.
  void give_up() { is_over_ = true; }
  // Something took from then until now: one latency.
  void took_since(Instant then) { took_ = now_ - then; }

  [[nodiscard]] Instant begun() const { return begun_; }
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] std::size_t asked() const { return asked_; }
  [[nodiscard]] std::size_t units() const { return units_; }
  [[nodiscard]] bool is_over() const { return is_over_; }
  [[nodiscard]] std::optional<Instant::duration> took() const { return took_; }

 private:
  std::string& output_;
  Instant begun_;
  Instant now_;
  std::size_t asked_ = 0;
  std::size_t units_ = 0;
  bool is_over_ = false;
  std::optional<Instant::duration> took_;
};

// Replies come in the order of a connection's requests. A reply that is none of those awaited ends the program
// (unexpected()): errors are never counted as work. One thread.
class Speech {
 public:
  Speech() = default;
  Speech(const Speech&) = delete;
  Speech& operator=(const Speech&) = delete;
  virtual ~Speech() = default;

  // Bytes of the first reply, 0 if it has not come whole.
  [[nodiscard]] virtual std::size_t find_end(std::string_view input) const = 0;
  // Whether this is no reply but something the peer says by itself, which may have to be answered.
  virtual bool pass_over(std::string_view /*said*/, std::string& /*output*/) { return false; }

  // Said first on each connection, and not replied to.
  [[nodiscard]] virtual std::string greeting(std::size_t /*connection*/) const { return {}; }
  // Asked one by one on the first connection before any lane begins.
  [[nodiscard]] virtual std::vector<std::string> preparations() const { return {}; }
  virtual void take_preparation(std::string_view /*reply*/) {}

  // Whether the peer has by now what a run is to find there; it is measured from then on.
  [[nodiscard]] virtual bool is_warm() const { return true; }

  // Asks at least once.
  virtual void begin(Lane lane, Turn& turn) = 0;
  // Asks on, ends the cycle, or does neither as long as the lane has other replies to come.
  virtual void take(Lane lane, std::string_view reply, Turn& turn) = 0;
};

// Throws if the peer is unknown or has no words for the work.
std::unique_ptr<Speech> make_speech(const Plan& plan);

}  // namespace tenure::bench

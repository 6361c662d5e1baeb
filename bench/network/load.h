// The load: all lanes of a plan do cycle after cycle of a speech, over so many connections, from one thread. What a
// round of replies makes the lanes of a connection say leaves in one write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "connection.h"
#include "socket.h"
#include "speech.h"

namespace tenure::bench {

// What was measured between warm-up and end.
struct Figures {
  double seconds = 0;
  std::uint64_t cycles = 0;
  double p50_us = 0;
  double p99_us = 0;
  double max_us = 0;
};

// One thread.
class Load {
 public:
  // Connects; the speech must outlive the load.
  Load(Plan plan, Speech& speech, std::uint16_t port);

  // Warms up, measures, and lets the lanes end their cycles. Throws if the peer says something unexpected, or nothing.
  Figures run();

 private:
  void prepare();
  // One request and its reply, on the first connection, before the lanes begin.
  void ask_at_once(const std::string& request);
  void begin_all();
  void begin(Connection& connection, Lane lane);
  void settle(Connection& connection, Lane lane, const Turn& turn);
  // For the plan's time, and on until the speech is warm.
  void warm_up();
  // Serves the connections until then, or until no lane awaits anything.
  void serve_until(Instant end);
  void serve(std::size_t index);
  void take_replies(Connection& connection);
  void flush(std::size_t index);
  void check_all_over() const;
  [[nodiscard]] Figures figures(Instant begun) const;

  Plan plan_;
  Speech& speech_;
  Descriptor poll_;
  std::vector<Connection> connections_;
  std::vector<bool> is_blocked_;  // connections that could not send all
  std::vector<Instant> begun_;    // by lane
  Instant now_;                   // when what is being looked at came
  std::size_t lanes_over_ = 0;
  bool is_ending_ = false;

  std::uint64_t cycles_ = 0;
  std::vector<std::uint64_t> latencies_ns_;
};

}  // namespace tenure::bench

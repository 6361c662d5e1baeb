// Connections between programs that use the client library and the server: bytes, in order, until one breaks. What was
// under way then is lost, and either side learns of it soon, late, or only by the silence of the other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agenda.h"
#include "base/dice.h"
#include "checker.h"
#include "client/stream.h"
#include "service.h"
#include "story.h"
#include "tally.h"

namespace tenure::sim {

class Cable;

// All of them. One thread.
class Cables {
 public:
  // The world around it, which outlives it.
  struct Ports {
    Agenda& agenda;
    Story& story;
    Tally& tally;
    Service& service;
    Checker& checker;
    std::uint64_t& connections;  // counts them
  };
  using Wake = std::function<void(int descriptor)>;

  Cables(Ports ports, std::uint64_t seed) : ports_(ports), dice_(seed) {}

  // A connection that `who` begins to make. `wake` is called when there is something to go on with.
  std::unique_ptr<client::Stream> dial(const std::string& who, const std::string& address, Wake wake);
  // One of them breaks.
  void cut_one();
  // The server is gone that has this address.
  void end_all(const std::string& address, bool is_power_lost);
  // From now on none breaks, and everything arrives soon.
  void calm() { is_calm_ = true; }

 private:
  friend class Cable;

  [[nodiscard]] Millis delay();
  // How long until somebody notices that nobody is there.
  [[nodiscard]] Millis notice();
  bool breaks() { return !is_calm_ && dice_.one_in(50); }

  Ports ports_;
  Dice dice_;
  bool is_calm_ = false;
  std::vector<std::weak_ptr<Cable>> cables_;
};

}  // namespace tenure::sim

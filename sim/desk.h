// Where requests reach an engine and its answers leave it: the connections of one process under test, and who waits on
// them. What comes and goes is noted for the checker, if it listens to this engine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "authority/engine.h"
#include "base/dice.h"
#include "checker.h"
#include "lives.h"
#include "network.h"
#include "service.h"
#include "story.h"
#include "tally.h"

namespace tenure::sim {

// One thread. Of one life of the engine.
class Desk {
 public:
  // The world around it, which outlives it.
  struct Ports {
    std::string name;  // of the process
    Story& story;
    Tally& tally;
    Checker& checker;
    Network& network;
    Engine& engine;
    Dice& dice;
    Lives& lives;
    // What every call leaves to be done.
    std::function<void()> settle;
    // Numbers what the checker judges by; 0: it does not listen to this engine.
    std::function<std::uint64_t()> term;
    // An answer is given; `is_judged`: the checker is told, too. From a callback.
    std::function<void(const Reply& reply, bool is_judged)> on_answer;
    // Whether it is no wonder when the engine refuses everything.
    std::function<bool()> may_refuse;
  };

  explicit Desk(Ports ports) : ports_(std::move(ports)) {}

  void process(const Mail& mail);
  void hang_up(std::uint64_t connection);
  [[nodiscard]] bool is_gone(std::uint64_t connection) const { return gone_.contains(connection); }
  // The engine has lost its sessions and all who waited.
  void forget_soft_state();

 private:
  struct Wait {
    Ticket ticket;
    std::uint64_t number;  // of its case; 0: nobody judges it
  };
  struct Connection {
    std::map<std::uint64_t, Wait> waits;  // by the place of the request
    std::optional<std::string> session;
  };
  // A request that was begun.
  struct Begun {
    std::uint64_t place = 0;   // in the order of all
    std::uint64_t term = 0;    // in which it was; 0: nobody judges it
    std::uint64_t number = 0;  // of its case
  };

  template <class R>
  void process(const Mail& mail, const R& request);
  template <class R>
  bool begin_wait(const Mail& mail, const R& request, const Begun& begun);
  void join(const Mail& mail, const JoinSession& request);
  void leave(Connection& connection);
  void answer(const Begun& begun, const Mail& mail, Reply reply);
  void give_back(const Mail& mail, const LockGrant& grant);
  [[nodiscard]] bool is_judged(const Begun& begun) const { return begun.term != 0 && ports_.term() == begun.term; }

  const Ports ports_;
  std::uint64_t begun_ = 0;
  std::map<std::uint64_t, Connection> connections_;
  std::set<std::uint64_t> gone_;  // connections that were hung up
};

}  // namespace tenure::sim

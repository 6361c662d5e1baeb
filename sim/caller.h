// Those who ask: each is a process of its own, which crashes, stalls and comes back, and does not always behave.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agenda.h"
#include "base/dice.h"
#include "cable.h"
#include "lives.h"
#include "machine_clock.h"
#include "network.h"
#include "request.h"
#include "service.h"
#include "story.h"
#include "tally.h"

namespace tenure::sim {

// A lease of any kind, and what it is for.
struct Claim {
  std::string name;  // of the task, domain or lock
  std::string token;
};

// What callers tell each other outside the authority: the ids of tasks. One thread.
struct Gossip {
  std::vector<std::string> tasks;
};

// One thread.
class Caller {
 public:
  // The world around it, which outlives it.
  struct Ports {
    Agenda& agenda;
    Story& story;
    Tally& tally;
    Network& network;
    Service& service;
    Checker& checker;
    Gossip& gossip;
    std::uint64_t& connections;  // counts them
    Cables& cables;
    const MachineClock& clock;  // the authority's
    std::int64_t slowness = 1;  // by so much callers are slower, and may hold for longer
  };

  Caller(std::string name, Ports ports, std::uint64_t seed);
  virtual ~Caller() = default;
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void begin();
  // It ends, and comes back without memory. The server sees its connection close, soon or late.
  void crash();
  // It does nothing for so long, and does not notice.
  void stall(Millis time);
  // It ends for good.
  void retire();

 protected:
  // Does one thing.
  virtual void act() = 0;
  // Loses its memory.
  virtual void forget() = 0;
  // How long until it acts again.
  virtual Millis pace() { return Millis{dice_.between(5, 120)}; }

  // Does something later, unless it has crashed by then; when it stalls, once it wakes.
  void plan(Millis delay, std::function<void()> event) { lives_.plan(delay, std::move(event)); }
  [[nodiscard]] std::uint64_t life() const { return lives_.life(); }
  // A place for the texts of the next request.
  Texts& texts() { return *texts_; }
  std::string_view keep(std::string text) { return texts_->keep(std::move(text)); }
  // Sends a request, again if there is no answer for long. then(const Result<Reply>&) is told the answer.
  template <class R, class Then>
  void ask(const R& request, Then then, Millis block = Millis{0}) {
    send({.texts = std::exchange(texts_, std::make_shared<Texts>()), .request = request, .block = block},
         [then = std::move(then)](const Reply& reply) { then(std::get<Result<ReplyOf<R>>>(reply)); });
  }
  template <class R>
  void ask(const R& request) {
    ask(request, [](const auto& /*reply*/) {});
  }

  std::string some(const char* kind, std::uint64_t count) { return kind + std::to_string(dice_.roll(count)); }
  Millis some_lease();
  std::string new_request_id();
  // One of them, taken away; or one that never was.
  Claim take(std::vector<Claim>& claims);
  // A token that is not this claim's.
  std::string wrong_token(const Claim& claim);

  const std::string name_;
  Ports ports_;
  Dice dice_;

 private:
  using OnReply = std::function<void(const Reply&)>;

  void plan_act(Millis delay);
  void send(Letter letter, OnReply on_reply);
  void transmit(const Mail& mail, const std::shared_ptr<bool>& is_answered, int tries);

  std::shared_ptr<Texts> texts_ = std::make_shared<Texts>();
  Lives lives_;
  std::uint64_t connection_ = 0;
  std::uint64_t requests_ = 0;
  bool is_retired_ = false;
};

}  // namespace tenure::sim

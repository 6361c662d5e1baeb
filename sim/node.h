// One of several processes under test: the real engine, election and journal of etcd, on a simulated etcd and clocks of
// its own. It dies, stands still, is cut from etcd and starts again as the world wants.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "agenda.h"
#include "authority/course.h"
#include "authority/engine.h"
#include "base/dice.h"
#include "desk.h"
#include "etcd/election.h"
#include "etcd/etcd_journal.h"
#include "etcd_store.h"
#include "evidence.h"
#include "lives.h"
#include "machine_clock.h"
#include "story.h"
#include "tally.h"
#include "upkeep.h"

namespace tenure::sim {

inline constexpr Millis kTerm{2000};

// One thread.
class Node {
 public:
  // The world around it, which outlives it.
  struct Ports {
    Agenda& agenda;
    Story& story;
    Tally& tally;
    Checker& checker;
    Network& network;
    EtcdMembers& members;
  };
  // Who watches over all nodes.
  class Overseer {
   public:
    virtual ~Overseer() = default;
    // It leads by its own word, and has read to the end.
    virtual void on_leads(Node& node) = 0;
    // It has taken in frames.
    virtual void on_followed(Node& node) = 0;
    // It ends; `is_power_lost`: without a word to those who are connected.
    virtual void on_end(Node& node, bool is_power_lost) = 0;
    // The term that the checker judges, if it is this node's; otherwise 0.
    virtual std::uint64_t judged_term(const Node& node) = 0;
    // From callbacks.
    virtual void on_append(std::uint64_t sequence) = 0;
    virtual void on_answer(Node& node, const Reply& reply, bool is_judged) = 0;
  };

  Node(const Settings& settings, Ports ports, Overseer& overseer, std::string address, std::uint64_t seed);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void start();
  [[nodiscard]] bool is_up() const { return engine_ != nullptr; }
  // That nobody else leads.
  [[nodiscard]] bool is_certain() const { return is_up() && clock_.boot() < election_->certain_until(); }
  [[nodiscard]] bool is_leading() const { return is_up() && engine_->is_leading(); }
  void hear(const Mail& mail);
  void hang_up(std::uint64_t connection);

  // --- how it ends; each starts it again after a while ---
  void kill(bool is_power_lost);
  void close();

  // --- what goes wrong ---
  // Does nothing for so long, though time passes.
  void pause(Millis time);
  void cut_from_etcd(Millis time);
  MachineClock& clock() { return clock_; }
  // If it leads: of the state as it is, as soon as that is durable.
  void make_snapshot();
  void raise_fence();
  void calm();

  // --- how it stands ---
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] Engine& engine() { return *engine_; }
  [[nodiscard]] const NotedJournal& journal() const { return *journal_; }
  // That it led in last, by its own word; 0: none.
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  // Whether, in this life, its time is that of the journal's frames, and the wall clock does not matter any more.
  [[nodiscard]] bool has_followed() const { return has_followed_; }

 private:
  void open();
  void open_desk();
  void end_life(const char* how, bool is_power_lost);
  void note_frame(FrameNote note);
  void on_role(Course::Role role);
  void on_turn(Course::Turn turn, const std::string& text);
  void wake();
  void step();
  void plan_step(Millis delay);
  void settle();

  const Settings settings_;
  Ports ports_;
  Overseer& overseer_;
  const std::string address_;
  Dice dice_;
  MachineClock clock_;
  Lives lives_;
  Millis cut_until_{0};
  bool is_calm_ = false;

  // This life.
  std::unique_ptr<NotedEntropy> entropy_;
  std::unique_ptr<SeededEntropy> journal_entropy_;
  std::unique_ptr<SimStore> store_;
  std::unique_ptr<etcd::EtcdElection> election_;
  std::unique_ptr<etcd::EtcdJournal> etcd_journal_;
  std::unique_ptr<NotedJournal> journal_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Desk> desk_;
  std::unique_ptr<Upkeep> upkeep_;
  std::unique_ptr<Course> course_;
  std::uint64_t epoch_ = 0;
  std::uint64_t led_from_ = 0;  // the frame that it last began to lead behind
  bool has_followed_ = false;
  bool is_wake_planned_ = false;
  std::uint64_t steps_ = 0;  // the latest that was planned counts
};

}  // namespace tenure::sim

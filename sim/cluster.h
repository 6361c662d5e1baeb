// Several nodes of which one leads, as callers see them: sent on to the leader, asked again when nobody leads. And what
// must hold of all nodes together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/dice.h"
#include "etcd_members.h"
#include "node.h"
#include "service.h"
#include "witness.h"

namespace tenure::sim {

// One thread.
class Cluster final : public Service, private Node::Overseer {
 public:
  static constexpr int kNodes = 3;

  Cluster(const Settings& settings, Node::Ports ports, const MachineClock& clock, std::uint64_t seed);

  void start();
  // Told when a node ends; whether without a word to those who are connected.
  void on_end(std::function<void(const std::string& address, bool is_power_lost)> told) { on_end_ = std::move(told); }

  [[nodiscard]] std::vector<std::string> addresses() const override;
  [[nodiscard]] bool is_up_at(const std::string& address) const override;
  void hear(const Mail& mail) override;
  void hang_up(std::uint64_t connection) override;

  // After every event: what has become durable, and who was elected.
  void look();
  // A lease that bound the leader's key ended before its time: until the leader hears of it, it is certain for no
  // reason.
  void note_early_end();
  // From now on it works as well as it can.
  void calm();
  // The last words: all have caught up, and their states are the same.
  [[nodiscard]] bool is_settled();
  void finish();

  Node& some_node() { return *nodes_[dice_.roll(nodes_.size())]; }
  // By its own word, the one of the latest epoch; null: none.
  Node* leader();

 private:
  void on_leads(Node& node) override;
  void on_followed(Node& node) override;
  void on_end(Node& node, bool is_power_lost) override;
  std::uint64_t judged_term(const Node& node) override;
  void on_answer(Node& node, const Reply& reply, bool is_judged) override;
  void on_append(std::uint64_t sequence) override;

  // An errand of a caller's: it is sent from node to node until one answers.
  struct Errand {
    Mail mail;
    int tries = 0;
  };
  void send(const std::shared_ptr<Errand>& errand);
  void take_reply(const std::shared_ptr<Errand>& errand, const Reply& reply);
  void move_on(std::uint64_t connection);
  [[nodiscard]] std::size_t find(std::string_view address) const;
  void note_elected();
  void judge_time(Node& node);

  Node::Ports ports_;
  Dice dice_;
  Witness witness_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::function<void(const std::string& address, bool is_power_lost)> on_end_;
  std::map<std::uint64_t, std::size_t> where_;  // by connection: the node that is asked
  bool is_calm_ = false;

  // The term that the checker judges.
  const Node* judged_ = nullptr;
  const Node* last_led_ = nullptr;
  std::uint64_t term_ = 0;
  std::uint64_t term_epoch_ = 0;

  std::map<std::uint64_t, Millis> appended_;  // frames that are not durable, and when they were
  Millis appended_at_{0};                     // the last one that is

  std::uint64_t elected_ = 0;              // the latest epoch, by what lies in etcd
  std::set<std::uint64_t> ended_early_{};  // epochs
};

}  // namespace tenure::sim

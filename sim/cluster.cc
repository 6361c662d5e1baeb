#include "cluster.h"

#include <algorithm>

namespace tenure::sim {
namespace {

constexpr int kTriesMax = 6;
// By so much a node's clock may gain on the world's, in thousandths.
constexpr std::int64_t kGainMax = 12;

const Failure* refusal_in(const Reply& reply) {
  const Failure* const failure = failure_in(reply);
  if (failure == nullptr) return nullptr;
  return failure->code == ErrorCode::kMoved || failure->code == ErrorCode::kUnavailable ? failure : nullptr;
}

}  // namespace

Cluster::Cluster(const Settings& settings, Node::Ports ports, const MachineClock& clock, std::uint64_t seed)
    : ports_(ports), dice_(seed), witness_(ports.agenda, ports.tally, ports.members, clock) {
  for (int i = 0; i < kNodes; ++i) {
    nodes_.push_back(std::make_unique<Node>(settings, ports, static_cast<Node::Overseer&>(*this),
                                            fmt::format("node{}:1", i), seed + 1 + static_cast<std::uint64_t>(i)));
  }
}

void Cluster::start() {
  for (const auto& node : nodes_) node->start();
}

// --- callers ---

std::vector<std::string> Cluster::addresses() const {
  std::vector<std::string> addresses;
  for (const auto& node : nodes_) addresses.push_back(node->address());
  return addresses;
}

std::size_t Cluster::find(std::string_view address) const {
  const auto found = std::ranges::find(nodes_, address, [](const auto& node) { return node->address(); });
  return static_cast<std::size_t>(found - nodes_.begin());
}

bool Cluster::is_up_at(const std::string& address) const { return nodes_[find(address)]->is_up(); }

void Cluster::hear(const Mail& mail) {
  if (mail.is_wired) return nodes_[find(mail.to)]->hear(mail);
  send(std::make_shared<Errand>(Errand{.mail = mail}));
}

void Cluster::send(const std::shared_ptr<Errand>& errand) {
  ++errand->tries;
  Mail mail = errand->mail;
  mail.reply_to = [this, errand](const Reply& reply) { take_reply(errand, reply); };
  const auto [where, is_new] = where_.emplace(mail.connection, 0);
  if (is_new) where->second = dice_.roll(nodes_.size());
  Node& node = *nodes_[where->second];
  // Whoever finds nobody there asks another next time.
  if (!node.is_up()) move_on(mail.connection);
  node.hear(mail);
}

void Cluster::move_on(std::uint64_t connection) {
  std::size_t& where = where_[connection];
  where = (where + 1) % nodes_.size();
}

// The caller's own network has brought it; what is sent again goes over it once more.
void Cluster::take_reply(const std::shared_ptr<Errand>& errand, const Reply& reply) {
  const Failure* const refused = refusal_in(reply);
  const bool is_last = errand->tries >= kTriesMax;
  if (refused != nullptr && refused->code == ErrorCode::kMoved && !is_last) {
    ports_.tally.count(Fault::kCallerMoved);
    where_[errand->mail.connection] = find(std::string_view(refused->message).substr(refused->message.rfind(' ') + 1));
    return ports_.network.carry([this, errand] { send(errand); });
  }
  if (refused != nullptr) {
    if (refused->message.starts_with("no node")) ports_.tally.count(Fault::kNobodyLeads);
    move_on(errand->mail.connection);
    if (!is_last && dice_.one_in(2)) {
      return ports_.agenda.after(Millis{dice_.between(50, 500)}, [this, errand] { send(errand); });
    }
  }
  if (errand->mail.reply_to) errand->mail.reply_to(reply);
}

void Cluster::hang_up(std::uint64_t connection) {
  for (const auto& node : nodes_) node->hang_up(connection);
  where_.erase(connection);
}

// --- what must hold ---

void Cluster::note_elected() {
  const auto leader = ports_.members.range({.keys = etcd::KeyRange::one(cluster_keys().leader())});
  if (leader.found.empty()) return;
  elected_ = std::max(elected_, static_cast<std::uint64_t>(leader.found.front().create_revision));
}

void Cluster::look() {
  note_elected();
  witness_.look();
  while (!appended_.empty() && appended_.begin()->first <= witness_.durable()) {
    appended_at_ = appended_.begin()->second;
    appended_.erase(appended_.begin());
  }
  if (judged_ == nullptr || !judged_->is_leading()) {
    ports_.checker.judge_all();
  } else if (judged_->is_certain()) {
    ports_.checker.judge_upto(judged_->journal().durable());
  }
}

void Cluster::note_early_end() {
  const auto leader = ports_.members.range({.keys = etcd::KeyRange::one(cluster_keys().leader())});
  if (leader.found.empty()) ended_early_.insert(elected_);
}

void Cluster::on_leads(Node& node) {
  look();
  // Its key was gone, and another's there, before it heard that it was elected: nothing that it writes will count.
  if (node.epoch() <= term_epoch_) return;
  ports_.checker.judge_all();
  ports_.checker.advance();
  if (!ports_.checker.is_settled()) ports_.tally.count(Fault::kTermLostFrames);
  if (last_led_ != nullptr) ports_.tally.count(last_led_ == &node ? Fault::kLeadsAgain : Fault::kTookOver);
  last_led_ = judged_ = &node;
  term_epoch_ = node.epoch();
  ++term_;
  ports_.checker.begin_term(node.engine(), node.journal(), node.clock(), witness_);
  ports_.checker.judge_upto(witness_.durable());
  judge_time(node);
}

// Time goes on from the last stamp: nobody's lease ends early because another leads. Only a node that has not followed
// anybody's time since it started goes by the wall clock.
void Cluster::judge_time(Node& node) {
  if (witness_.durable() == 0) return;
  const Millis since = ports_.agenda.now() - appended_at_;
  const Millis ahead = node.engine().now() - (ports_.checker.last_stamp() + since);
  if (ahead <= since * kGainMax / 1000 + Millis{5}) return;
  require(!node.has_followed(), "{} leads, and time is {} ms ahead of what it was", node.address(), ahead.count());
  ports_.tally.count(Fault::kTimeLeapt);
  ports_.checker.beliefs().leap();
}

void Cluster::on_append(std::uint64_t sequence) { appended_[sequence] = ports_.agenda.now(); }

void Cluster::on_followed(Node& node) {
  const auto& digests = ports_.checker.digests();
  ports_.checker.advance();
  const auto known = digests.find(node.engine().applied());
  if (known == digests.end()) return;
  const Digest digest = node.engine().inspect([](const State& state) { return state.digest(); });
  require(digest == known->second, "{} follows, and its state is not what the frames up to {} add up to",
          node.address(), node.engine().applied());
}

void Cluster::on_end(Node& node, bool is_power_lost) {
  if (judged_ == &node) {
    judged_ = nullptr;
    ports_.checker.end_term();
  }
  if (on_end_) on_end_(node.address(), is_power_lost);
}

std::uint64_t Cluster::judged_term(const Node& node) { return judged_ == &node ? term_ : 0; }

// From a callback. Nobody answers anything when another was elected: that is what certainty is for.
void Cluster::on_answer(Node& node, const Reply& reply, bool is_judged) {
  if (refusal_in(reply) != nullptr) {
    if (!is_judged && node.epoch() != 0) ports_.tally.count(Fault::kAnswerByDeposed);
    return;
  }
  note_elected();
  if (ended_early_.contains(node.epoch())) return;
  if (node.epoch() == 0) {
    return ports_.checker.note_breach(fmt::format("{} answers, and has never led: {}", node.address(), text_of(reply)));
  }
  if (node.epoch() < elected_) {
    ports_.checker.note_breach(fmt::format("{} answers in epoch {}, and another was elected in {}: {}", node.address(),
                                           node.epoch(), elected_, text_of(reply)));
  }
}

// --- the end ---

void Cluster::calm() {
  is_calm_ = true;
  for (const auto& node : nodes_) node->calm();
}

Node* Cluster::leader() {
  Node* leader = nullptr;
  for (const auto& node : nodes_) {
    if (node->is_leading() && (leader == nullptr || node->epoch() > leader->epoch())) leader = node.get();
  }
  return leader;
}

// One that slept, and still believes that it leads, may have as many frames as there are, but they are others.
bool Cluster::is_settled() {
  return std::ranges::all_of(nodes_, [this](const auto& node) {
    if (!node->is_up() || node->engine().applied() != ports_.checker.position()) return false;
    return !node->engine().needs_load() && (!node->is_leading() || node.get() == leader());
  });
}

void Cluster::finish() {
  for (const auto& node : nodes_) ports_.checker.finish(node->engine());
}

}  // namespace tenure::sim

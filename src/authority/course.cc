#include "authority/course.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace tenure {
namespace {

// Until a journal that could not be read is read again; and one of which there were no news.
constexpr Millis kReadAgain = Millis{200};
constexpr Millis kReadAnyway = std::chrono::seconds(2);

}  // namespace

void Course::begin(Hooks hooks) {
  hooks_ = std::move(hooks);
  ports_.engine.refuse_with({ErrorCode::kUnavailable, "this node is loading the journal"});
  ports_.engine.on_failure([this](const Failure& failure) {
    {
      const MutexLock lock(mutex_);
      lost_ = failure.message;
    }
    hooks_.wake();
  });
  ports_.journal.on_news([this] {
    {
      const MutexLock lock(mutex_);
      has_news_ = true;
      if (role_ == Role::kLeader) return;  // its own
    }
    hooks_.wake();
  });
  ports_.election.on_due([this] { hooks_.wake(); });
}

void Course::end() {
  ports_.journal.on_news(nullptr);
  ports_.election.on_due(nullptr);
  ports_.engine.on_failure(nullptr);
}

Millis Course::step() {
  const bool is_leading = role() == Role::kLeader;
  if (!is_leading && !is_broken_ && must_read()) follow();
  if (is_broken_) return ports_.clock.boot() + kReadAnyway;
  if (role() == Role::kLoading) return read_at_;
  std::optional<std::string> lost;
  {
    const MutexLock lock(mutex_);
    lost = std::exchange(lost_, std::nullopt);
  }
  if (is_leading && (lost || !ports_.engine.is_leading())) {
    end_term(lost.value_or("a change could not be finished"));
    ports_.election.resign();
  }
  const Millis due = ports_.election.tick(*this);
  if (std::exchange(must_resign_, false)) ports_.election.resign();
  mind_oldest();
  ports_.engine.go_on();
  // A leader has more than is durable.
  ports_.election.tell_applied(role() == Role::kLeader ? ports_.journal.durable() : ports_.engine.applied());
  return is_leading ? due : std::min(due, read_at_);
}

// --- following ---

bool Course::must_read() {
  const MutexLock lock(mutex_);
  return std::exchange(has_news_, false) || ports_.clock.boot() >= read_at_;
}

void Course::follow() {
  const auto read = ports_.engine.catch_up();
  read_at_ = ports_.clock.boot() + (read ? kReadAnyway : kReadAgain);
  if (read) {
    if (!std::exchange(trouble_, "").empty()) tell(Turn::kReadAgain, "");
    if (role() == Role::kLoading) {
      tell(Turn::kLoaded, "");
      take_role(Role::kFollower);
      refuse_as_follower();
    }
    return;
  }
  if (read.error().code != ErrorCode::kUnavailable) {
    is_broken_ = true;
    hooks_.on_broken(read.error());
  } else if (std::exchange(trouble_, read.error().message).empty()) {
    tell(Turn::kUnread, read.error().message);
  }
}

void Course::refuse_as_follower() {
  const auto known = leader();
  if (known && known->address != self_) {
    const std::string address = known->address.substr(0, known->address.find(','));
    ports_.engine.refuse_with({ErrorCode::kMoved, fmt::format("0 {}", address)});
  } else {
    ports_.engine.refuse_with({ErrorCode::kUnavailable, "no node is known to lead, ask again later"});
  }
}

void Course::on_leader(const std::optional<Election::Leader>& leader) {
  {
    const MutexLock lock(mutex_);
    leader_ = leader;
  }
  refuse_as_follower();
}

// --- leading ---

void Course::on_elected(std::uint64_t epoch) {
  {
    const MutexLock lock(mutex_);
    lost_.reset();
  }
  const Millis began = ports_.clock.boot();
  mind_oldest();
  if (const auto led = ports_.engine.lead(epoch); !led) {
    tell(Turn::kLeadFailed, fmt::format("epoch {}: {}", epoch, led.error().message));
    must_resign_ = true;
    return;
  }
  {
    const MutexLock lock(mutex_);
    leader_ = {epoch, self_};
  }
  take_role(Role::kLeader);
  tell(Turn::kLeads, fmt::format("epoch {}, {} ms after it was elected", epoch, (ports_.clock.boot() - began).count()));
}

// One that joins later, and has missed what it cannot read, ends when it reads it.
void Course::mind_oldest() {
  Election::Member oldest{.address = "", .records = std::numeric_limits<std::uint64_t>::max()};
  for (Election::Member& member : ports_.election.members()) {
    if (member.records < oldest.records) oldest = std::move(member);
  }
  ports_.engine.write_for(oldest.records, fmt::format("{} (version {})", oldest.address, oldest.version));
}

void Course::on_deposed(const std::string& why) {
  if (role() == Role::kLeader) end_term(why);
}

void Course::end_term(const std::string& why) {
  {
    const MutexLock lock(mutex_);
    if (leader_ && leader_->address == self_) leader_.reset();
  }
  refuse_as_follower();
  ports_.engine.depose(why);
  take_role(Role::kFollower);
  tell(Turn::kDeposed, why);
  read_at_ = Millis{0};  // what was not durable is to go
  hooks_.wake();
}

// --- how it stands ---

Course::Role Course::role() const {
  const MutexLock lock(mutex_);
  return role_;
}

std::optional<Election::Leader> Course::leader() const {
  const MutexLock lock(mutex_);
  return leader_;
}

void Course::take_role(Role role) {
  {
    const MutexLock lock(mutex_);
    role_ = role;
  }
  hooks_.on_role(role);
}

void Course::tell(Turn turn, const std::string& text) const {
  if (hooks_.on_turn) hooks_.on_turn(turn, text);
}

}  // namespace tenure

#include "program.h"

#include <algorithm>

#include "client/backoff.h"
#include "program_send.h"
#include "wire/request_writer.h"

namespace tenure::sim {
namespace {

constexpr std::size_t kFreeLines = 2;  // kept for the next waits

std::string greeting() { return wire::write_request(wire::Hello{.version = 3, .credentials = {}, .name = {}}); }

}  // namespace

Program::Program(std::string name, Ports ports, std::uint64_t seed)
    : Caller(std::move(name), ports, seed), clock_(ports.clock), address_(ports.service.addresses().front()) {}

void Program::act() {
  const std::uint64_t which = dice_.roll(24);
  if (which < 5) return lock();
  if (which < 8) return release_one();
  if (which < 10) return force();
  if (which < 12) return submit();
  if (which < 14) return lease();
  if (which < 16) return report_task();
  if (which < 18) return acquire_offset();
  if (which < 20) return report_offset();
  if (which == 20) return kill();
  if (which == 21) return end_some_wait();
  if (which == 22) {
    ports_.tally.count(Fault::kCallerDrifted);
    return clock_.drift(MachineClock::kTrue + dice_.between(-CallerClock::kApart, CallerClock::kApart));
  }
  if (dice_.one_in(4)) stall(Millis{dice_.between(100, 2500)});
}

void Program::forget() {
  for (const auto& [number, hold] : holds_) ports_.checker.beliefs().let_go(hold.belief);
  holds_.clear();
  next_.clear();
  forcing_.clear();
  errands_.clear();
  waits_.clear();
  own_.clear();
  shared_.reset();
  wake_at_ = client::Line::kNotDue;
}

// --- the library's loop ---

Result<std::unique_ptr<client::Stream>> Program::dial() {
  return ports_.cables.dial(process(), address_,
                            [this](int descriptor) { plan(Millis{0}, [this, descriptor] { on_ready(descriptor); }); });
}

void Program::move_to(const std::string& address) {
  ports_.tally.count(Fault::kCallerMoved);
  address_ = address;
}

// As the switchboard does.
void Program::move_on() {
  const auto addresses = ports_.service.addresses();
  const auto current = std::ranges::find(addresses, address_);
  const bool is_last = current == addresses.end() || std::next(current) == addresses.end();
  address_ = is_last ? addresses.front() : *std::next(current);
}

Millis Program::backoff(int failures) {
  return reconnect_pause(Millis{20}, Millis{400}, failures, dice_.roll(1'000'000));
}

template <class Use>
void Program::for_each_line(const Use& use) {
  if (shared_) use(*shared_);
  for (const auto& line : own_) use(*line);
}

void Program::on_ready(int descriptor) {
  for_each_line([&](client::Line& line) {
    if (line.descriptor() == descriptor) line.on_ready(now());
  });
  drive();
}

// As the switchboard does after each sleep.
void Program::drive() {
  if (std::exchange(is_driving_, true)) return;
  do {
    for (Errand& errand : std::exchange(errands_, {})) errand();
    for_each_line([&](client::Line& line) { line.tend(now()); });
  } while (!errands_.empty());
  std::size_t kept = 0;
  std::erase_if(own_, [&](const auto& line) { return line->is_idle() && (!line->is_up() || ++kept > kFreeLines); });
  is_driving_ = false;
  plan_wake();
}

void Program::plan_wake() {
  Millis due = client::Line::kNotDue;
  for_each_line([&](const client::Line& line) { due = std::min(due, line.next_due()); });
  if (due == client::Line::kNotDue || due >= wake_at_) return;
  wake_at_ = due;
  plan(clock_.until(std::max(due - now(), Millis{1})), [this, wake = ++wakes_] {
    if (wake != wakes_) return;
    wake_at_ = client::Line::kNotDue;
    drive();
  });
}

void Program::put(std::shared_ptr<client::Call> call, bool has_own_line) {
  if (!has_own_line) {
    if (!shared_) shared_ = std::make_unique<client::Line>(exchange(), greeting(), 1);
    shared_->put(std::move(call));
  } else {
    client::Line* free = nullptr;
    for (const auto& line : own_) {
      if (line->is_idle() && (free == nullptr || line->is_up())) free = line.get();
    }
    if (free == nullptr) free = own_.emplace_back(std::make_unique<client::Line>(exchange(), greeting(), 1)).get();
    free->put(std::move(call));
  }
  drive();
}

// As the switchboard does when its caller is asked to stop.
void Program::end_some_wait() {
  std::erase_if(waits_, [](const auto& wait) { return wait.expired(); });
  if (waits_.empty()) return;
  const auto call = waits_[dice_.roll(waits_.size())].lock();
  if (!call->done) return;
  ports_.tally.count(Fault::kWaitEnded);
  ports_.story.tell("{} ends a wait", name_);
  if (!call->may_be_done()) {
    call->answer(wire::RespReply{});
    return drive();
  }
  put(client::end_of_wait(*call, now() + kTimeout), true);
}

void Program::note_answer(CallLaw::Number call, const client::Answer& answer) {
  if (answer.is_repeated) ports_.tally.count(Fault::kCallRepeated);
  if (answer.reply || answer.reply.error().code != ErrorCode::kUnavailable) return;
  const std::string& message = answer.reply.error().message;
  ports_.story.tell("{} gives up: {}", name_, message);
  if (message.find("nothing was asked") != std::string::npos) {
    ports_.tally.count(Fault::kCallUnsent);
    ports_.checker.calls().end_unsent(call);
  } else if (message.find("may or may not have happened") != std::string::npos) {
    ports_.tally.count(Fault::kCallUnknown);
  }
}

}  // namespace tenure::sim

#include "cli/stage.h"

#include <fmt/core.h>

#include "base/check.h"
#include "core/record_codec.h"

namespace tenure::cli {
namespace {

// A day on which the demo always plays, so that it always prints the same.
constexpr Instant kStart{1'800'000'000'000};
constexpr std::uint64_t kSeed = 7;

constexpr const char* kBold = "\x1b[1m";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kCyan = "\x1b[36m";
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kYellow = "\x1b[33m";

std::unique_ptr<Engine> start(Engine::Ports ports) {
  auto engine = Engine::start({}, ports);
  if (!engine) raise(engine.error());
  return std::move(*engine);
}

std::string seconds(Millis time) { return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000); }

}  // namespace

Stage::Stage(Journal& journal, bool colours)
    : colours_(colours),
      clock_(kStart),
      entropy_(kSeed),
      journal_(journal),
      engine_(start({clock_, entropy_, journal_})),
      tasks_(*engine_),
      work_(*engine_),
      locks_(*engine_) {
  engine_->observe([this](const State&, Instant, std::string_view record) { show_record(record); });
}

void Stage::line(const char* colour, std::string_view mark, std::string_view text) const {
  fmt::print("{}{:>10}  {}{}\n", colours_ ? colour : "", mark, text, colours_ ? "\x1b[0m" : "");
}

void Stage::chapter(std::string_view title) const {
  fmt::print("\n");
  line(kBold, "", title);
  fmt::print("\n");
}

void Stage::tell(std::string_view text) const { line("", "", text); }

void Stage::say(std::string_view who, std::string_view what) const { line(kCyan, who, what); }

void Stage::reply(std::string_view text) const { line(kGreen, "answer", text); }

void Stage::show_record(std::string_view bytes) const {
  ByteReader in(bytes);
  const auto record = decode(in);
  TENURE_CHECK(record.has_value(), "{}", record.error().message);
  line(kDim, "journal", to_json(*record));
}

void Stage::show_task(std::string_view task_id) {
  const auto task = tasks_.get(task_id);
  line(kYellow, "state",
       task ? fmt::format("task {}: {}, attempt {}, lease {}", task_id, to_string(task->state), task->attempt,
                          task->lease_id.value_or("none"))
            : fmt::format("task {}: unknown", task_id));
}

void Stage::show_domain(std::string_view domain) {
  const auto status = work_.inspect(domain);
  line(kYellow, "state",
       status ? fmt::format("domain {}: {}, {} waiting, {} processed", domain,
                            status->offset ? fmt::format("offset {} in flight", status->offset->value) : "idle",
                            status->backlog, status->processed)
              : fmt::format("domain {}: unknown", domain));
}

void Stage::show_lock(const LockName& lock) {
  const auto status = locks_.get(lock);
  line(kYellow, "state",
       status ? fmt::format("lock {}::{}: held by {}, fence {}, {} left", lock.domain, lock.identifier, status->owner,
                            status->fence.value, seconds(status->remaining))
              : fmt::format("lock {}::{}: free", lock.domain, lock.identifier));
}

void Stage::advance(Millis by) {
  fmt::print("\n");
  line(kBold, "time", fmt::format("{} pass", seconds(by)));
  clock_.advance(by);
  while (engine_->run_due() <= engine_->now()) continue;
}

bool Stage::replay_agrees() const {
  State replayed;
  const auto valid = journal_.read(
      {}, [&](const Frame& frame) { return replay_frame(replayed, frame.sequence, frame.stamp, frame.payload); });
  return valid.has_value() && engine_->inspect([&](const State& live) { return live.digest() == replayed.digest(); });
}

Result<Done> Stage::close() {
  engine_->observe(nullptr);
  engine_->take_digest();
  return journal_.close();
}

}  // namespace tenure::cli

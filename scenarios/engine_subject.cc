#include "engine_subject.h"

#include <charconv>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "answers.h"
#include "record_text.h"
#include "words.h"

namespace tenure::scenario {
namespace {

// Each setting by its name, as the member it is.
using Setting = std::variant<std::uint32_t Settings::*, std::uint64_t Settings::*, Millis Settings::*>;
const std::map<std::string_view, Setting>& setting_names() {
  static const std::map<std::string_view, Setting> names = {
      {"work_retries_max", &Settings::work_retries_max},
      {"retention_time", &Settings::retention_time},
      {"retention_count", &Settings::retention_count},
      {"retention_bytes", &Settings::retention_bytes},
      {"payload_bytes_max", &Settings::payload_bytes_max},
      {"backlog_max", &Settings::backlog_max},
      {"intervals_max", &Settings::intervals_max},
      {"domains_max", &Settings::domains_max},
      {"holds_max", &Settings::holds_max},
      {"waiters_max", &Settings::waiters_max},
      {"state_bytes_max", &Settings::state_bytes_max},
  };
  return names;
}

void set(Settings& settings, std::string_view word) {
  const std::size_t equals = std::min(word.find('='), word.size());
  const auto found = setting_names().find(word.substr(0, equals));
  if (found == setting_names().end()) throw ScriptError(fmt::format("'{}' is no setting", word));
  const std::string_view value = word.substr(std::min(equals + 1, word.size()));
  const auto number = parse_integer(value);
  const auto duration = parse_duration(value);
  std::visit(
      [&]<class T>(T Settings::* member) {
        if constexpr (std::is_same_v<T, Millis>) {
          if (!duration) throw ScriptError(fmt::format("expected a duration, found '{}'", value));
          settings.*member = *duration;
        } else {
          if (!number) throw ScriptError(fmt::format("expected a number, found '{}'", value));
          settings.*member = static_cast<T>(*number);
        }
      },
      found->second);
}

Millis duration_of(std::string_view word) {
  const auto duration = parse_duration(word);
  if (!duration) throw ScriptError(fmt::format("expected a duration like 30s, found '{}'", word));
  return *duration;
}

void say_nothing(const Subject::Answered& done) { done({}); }

}  // namespace

const std::map<std::string_view, EngineSubject::Verb>& EngineSubject::verbs() {
  using S = EngineSubject;
  static const std::map<std::string_view, Verb> verbs = {
      {"submit", &S::submit},
      {"lease", &S::lease},
      {"extend", &S::extend},
      {"complete", &S::complete},
      {"fail", &S::fail},
      {"kill", &S::kill},
      {"resubmit", &S::resubmit},
      {"get", &S::get},
      {"history", &S::history},
      {"wait", &S::wait},
      {"list", &S::list},
      {"queues", &S::queues},
      {"pause", &S::pause},
      {"resume", &S::resume},
      {"workers", &S::workers},
      {"work.acquire", &S::work_acquire},
      {"work.succeed", &S::work_succeed},
      {"work.fail", &S::work_fail},
      {"work.extend", &S::work_extend},
      {"work.trim", &S::work_trim},
      {"work.inspect", &S::work_inspect},
      {"work.backlog", &S::work_backlog},
      {"work.failed", &S::work_failed},
      {"work.done", &S::work_done},
      {"work.list", &S::work_list},
      {"lock.acquire", &S::lock_acquire},
      {"lock.release", &S::lock_release},
      {"lock.undelivered", &S::lock_undelivered},
      {"lock.extend", &S::lock_extend},
      {"lock.force", &S::lock_force},
      {"lock.get", &S::lock_get},
      {"lock.list", &S::lock_list},
      {"session.join", &S::join},
      {"session.leave", &S::leave},
      {"cancel", &S::cancel},
      {"settings", &S::settings},
      {"advance", &S::advance},
      {"tick", &S::tick},
      {"hold", &S::hold},
      {"unhold", &S::unhold},
      {"fail-journal", &S::fail_journal},
      {"replay", &S::replay},
      {"crash", &S::crash},
      {"apply", &S::apply},
      {"apply-bytes", &S::apply_bytes},
      {"take-digest", &S::take_digest},
      {"raise-fence", &S::raise_fence},
      {"state", &S::state},
      {"journal", &S::journal},
      {"digest", &S::digest},
      {"replay-prefixes", &S::replay_prefixes},
  };
  return verbs;
}

EngineSubject::EngineSubject() { restart({}); }

EngineSubject::~EngineSubject() = default;

void EngineSubject::run(const Command& command, const Answered& done) {
  const auto verb = verbs().find(command.verb);
  if (verb == verbs().end()) throw ScriptError(fmt::format("'{}' is no verb", command.verb));
  label_ = command.label;
  Arguments args(command);
  (this->*verb->second)(args, done);
}

void EngineSubject::finish() {
  const Digest live = engine_->inspect([](const State& state) { return state.digest(); });
  proof_.check_replay(*journal_, live);
}

// --- restarts ---

std::vector<EngineSubject::KeptFrame> EngineSubject::frames() const {
  std::vector<KeptFrame> frames;
  static_cast<void>(journal_->read({}, [&](const Frame& frame) -> Result<Done> {
    frames.push_back({frame.stamp, std::string(frame.payload)});
    return Done{};
  }));
  return frames;
}

Result<Done> EngineSubject::restart(const std::vector<KeptFrame>& frames) {
  auto journal = std::make_unique<MemoryJournal>(MemoryJournal::Keep::kFrames);
  for (const KeptFrame& frame : frames) journal->append(0, frame.stamp, frame.payload);
  auto engine = Engine::start(settings_, {.clock = *clock_, .entropy = entropy_, .journal = *journal});
  if (!engine) return tl::unexpected(engine.error());
  // What the old one does until it is gone is nobody's business.
  if (engine_ != nullptr) engine_->observe(nullptr);
  before_restart_();
  engine_ = std::move(*engine);
  journal_ = std::move(journal);
  durable_.reset();
  tickets_.clear();
  proof_.restart(*journal_);
  engine_->observe(
      [this](const State& live, Instant stamp, std::string_view record) { proof_.check(live, stamp, record); });
  after_restart_();
  return Done{};
}

// A restart with other settings; what was decided stays.
void EngineSubject::settings(Arguments& args, const Answered& done) {
  while (!args.at_end()) set(settings_, args.next("setting"));
  restart(frames());
  say_nothing(done);
}

void EngineSubject::replay(Arguments& args, const Answered& done) {
  args.take_options({{"WALL"}});
  const Digest before = engine_->inspect([](const State& state) { return state.digest(); });
  if (const auto jump = args.duration("WALL")) {
    // The old engine uses the old clock until it is gone.
    auto old = std::exchange(clock_, std::make_unique<ManualClock>(clock_->wall() + *jump));
    const auto kept = frames();
    restart(kept);
  } else {
    restart(frames());
  }
  const Digest after = engine_->inspect([](const State& state) { return state.digest(); });
  done(say(after == before ? "the same digest" : "ANOTHER DIGEST"));
}

// What was not durable is lost, and with it every answer that waited for it.
void EngineSubject::crash(Arguments& args, const Answered& done) {
  args.finish();
  std::vector<KeptFrame> kept = frames();
  if (durable_) kept.resize(*durable_);
  shown_ = std::min<std::uint64_t>(shown_, kept.size());
  restart(kept);
  say_nothing(done);
}

// apply +30s LeaseExpired task_id=T1 lease_id=$L1 & TaskDead task_id=T1 reason=poison
void EngineSubject::apply(Arguments& args, const Answered& done) {
  const Instant stamp = kStart + duration_of(args.next("stamp"));
  std::string payload;
  std::vector<std::string> words;
  while (!args.at_end()) {
    const std::string_view word = args.next("record");
    if (word != "&") {
      words.emplace_back(word);
      continue;
    }
    payload += encode_words(words, kStart);
    words.clear();
  }
  payload += encode_words(words, kStart);
  apply_frame(stamp, std::move(payload), done);
}

void EngineSubject::apply_bytes(Arguments& args, const Answered& done) {
  const Instant stamp = kStart + duration_of(args.next("stamp"));
  std::string payload;
  while (!args.at_end()) {
    const std::string_view word = args.next("byte");
    unsigned value = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), value, 16);
    if (read.ptr != word.data() + word.size() || value > 0xff) throw ScriptError("expected bytes in hexadecimal");
    payload.push_back(static_cast<char>(value));
  }
  apply_frame(stamp, std::move(payload), done);
}

void EngineSubject::apply_frame(Instant stamp, std::string payload, const Answered& done) {
  std::vector<KeptFrame> all = frames();
  all.push_back({stamp, std::move(payload)});
  const auto started = restart(all);
  done(started ? Answer{} : say(started.error()));
}

// --- time and durability ---

void EngineSubject::advance(Arguments& args, const Answered& done) {
  clock_->advance(duration_of(args.next("duration")));
  args.finish();
  say_nothing(done);
}

void EngineSubject::tick(Arguments& args, const Answered& done) {
  args.finish();
  while (engine_->run_due() <= engine_->now()) continue;
  say_nothing(done);
}

void EngineSubject::hold(Arguments& args, const Answered& done) {
  args.finish();
  durable_ = frames().size();
  journal_->hold(true);
  say_nothing(done);
}

void EngineSubject::unhold(Arguments& args, const Answered& done) {
  args.finish();
  durable_.reset();
  journal_->hold(false);
  say_nothing(done);
}

void EngineSubject::fail_journal(Arguments& args, const Answered& done) {
  const std::string why(args.next("reason"));
  args.finish();
  if (!durable_) durable_ = frames().size();
  journal_->fail(why);
  say_nothing(done);
}

// --- waits, sessions, system records ---

// As when a client that waits goes away.
void EngineSubject::cancel(Arguments& args, const Answered& done) {
  const std::string label(args.next("label"));
  args.finish();
  const auto ticket = tickets_.find(label);
  if (ticket == tickets_.end()) throw ScriptError(fmt::format("'{}' has not waited", label));
  done(say(engine_->cancel(ticket->second) ? "cancelled" : "not waiting"));
}

void EngineSubject::join(Arguments& args, const Answered& done) {
  const std::string_view session = args.next("session");
  args.take_options({{"GRACE"}});
  const auto joined = engine_->join(session, args.duration("GRACE"));
  done(joined ? Answer{} : say(joined.error()));
}

void EngineSubject::leave(Arguments& args, const Answered& done) {
  const std::string_view session = args.next("session");
  args.finish();
  const auto left = engine_->leave(session);
  done(left ? Answer{} : say(left.error()));
}

void EngineSubject::take_digest(Arguments& args, const Answered& done) {
  args.finish();
  engine_->take_digest();
  say_nothing(done);
}

void EngineSubject::raise_fence(Arguments& args, const Answered& done) {
  args.finish();
  engine_->raise_fence();
  say_nothing(done);
}

}  // namespace tenure::scenario

// A whole conversation: any bytes as requests to an engine with all its verbs. Behind it the state's digest is that of
// the state made anew, and a replay of the journal comes to the same.
#include "wire/conversation.h"

#include <memory>

#include "authority/engine.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "fuzz.h"
#include "journal/memory_journal.h"

namespace tenure {
namespace {

class OpenHouse final : public wire::Conversation::House {
 public:
  void on_answers(wire::Conversation& /*conversation*/) override {}
  std::optional<Failure> refusal(const wire::Conversation& /*conversation*/, const wire::Verb& /*verb*/,
                                 const wire::Request& /*request*/) override {
    return std::nullopt;
  }
  void check(wire::Conversation& /*conversation*/, const wire::Credentials& /*credentials*/,
             wire::Conversation::SignIn done) override {
    done(fail_with(ErrorCode::kNoAuth, "expected a user"));
  }
  void serve(wire::Conversation& /*conversation*/, const wire::Conversation::HouseRequests& /*request*/,
             wire::Conversation::Promise promise) override {
    std::move(promise).fulfil([](wire::RespWriter& out) { out.value("OK"); });
  }
};

Digest replayed(const MemoryJournal& journal) {
  State state;
  const auto read = journal.read(
      {}, [&](const Frame& frame) { return replay_frame(state, frame.sequence, frame.stamp, frame.payload); });
  TENURE_CHECK(read.has_value(), "a journal that does not replay: {}", read.error().message);
  return state.digest();
}

}  // namespace

void fuzz(std::string_view input) {
  ManualClock clock{Instant{1'000'000}};
  SeededEntropy entropy{1};
  MemoryJournal journal{MemoryJournal::Keep::kFrames};
  OpenHouse house;
  const std::unique_ptr<Engine> engine = Engine::start({}, {clock, entropy, journal}).value();
  const auto conversation = wire::Conversation::begin(*engine, house, {.client_id = 1, .own_session = "connection-1"});
  std::string output;
  // A byte of 0xff lets time pass: most of what expires is then past its end.
  while (!input.empty() && !conversation->is_ending()) {
    const std::string_view said = input.substr(0, input.find('\xff'));
    conversation->receive(said);
    engine->hand_over();
    conversation->go_on();
    conversation->take_output(output);
    input.remove_prefix(std::min(input.size(), said.size() + 1));
    clock.advance(std::chrono::seconds(40));
    engine->run_due();
  }
  conversation->close();
  engine->hand_over();
  engine->inspect([&](const State& state) {
    TENURE_CHECK(state.digest() == state.recompute_digest(), "the digest is not the state's");
    TENURE_CHECK(state.digest() == replayed(journal), "the journal tells of another state");
  });
}

}  // namespace tenure

#include <tenure/authority.h>
#include "authority/faces.h"
#include "authority/ticker.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "journal/memory_journal.h"

namespace tenure {
namespace {

class MemoryAuthority final : public Authority {
 public:
  explicit MemoryAuthority(const Settings& settings) : engine_(start(settings)) {}
  ~MemoryAuthority() override { engine_->cancel_all(); }

  Tasks& tasks() override { return tasks_; }
  WorkLeases& work() override { return work_; }
  Locks& locks() override { return locks_; }

  void join(std::string_view session, std::optional<Millis> grace) override {
    if (auto joined = engine_->join(session, grace); !joined) raise(joined.error());
  }
  void leave(std::string_view session) override {
    if (auto left = engine_->leave(session); !left) raise(left.error());
  }

 private:
  std::unique_ptr<Engine> start(const Settings& settings) {
    auto engine = Engine::start(settings, {clock_, entropy_, journal_});
    TENURE_CHECK(engine.has_value(), "{}", engine.error().message);
    return std::move(*engine);
  }

  SystemClock clock_;
  SystemEntropy entropy_;
  MemoryJournal journal_{MemoryJournal::Keep::kNothing};
  std::unique_ptr<Engine> engine_;
  TaskFace tasks_{*engine_};
  WorkFace work_{*engine_};
  LockFace locks_{*engine_};
  Ticker ticker_{*engine_};
};

}  // namespace

std::unique_ptr<Authority> Authority::in_memory(const Settings& settings) {
  return std::make_unique<MemoryAuthority>(settings);
}

}  // namespace tenure

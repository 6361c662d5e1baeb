#include <tenure/authority.h>
#include "authority/faces.h"
#include "authority/seat.h"
#include "authority/ticker.h"

namespace tenure {
namespace {

class EmbeddedAuthority final : public Authority {
 public:
  explicit EmbeddedAuthority(std::unique_ptr<Seat> seat) : seat_(std::move(seat)) {}

  ~EmbeddedAuthority() override {
    ticker_.reset();
    // If the journal has failed, those it concerns know.
    static_cast<void>(seat_->close());
  }

  Tasks& tasks() override { return tasks_; }
  WorkLeases& work() override { return work_; }
  Locks& locks() override { return locks_; }

  void join(std::string_view session, std::optional<Millis> grace) override {
    if (auto joined = engine_.join(session, grace); !joined) raise(joined.error());
  }
  void leave(std::string_view session) override {
    if (auto left = engine_.leave(session); !left) raise(left.error());
  }
  [[nodiscard]] Instant now() const override { return engine_.now(); }
  void snapshot() override {
    if (seat_->snapshots() == nullptr) return;
    if (auto made = seat_->snapshots()->make(); !made) raise(made.error());
  }

 private:
  const std::unique_ptr<Seat> seat_;
  Engine& engine_ = seat_->engine();
  TaskFace tasks_{engine_};
  WorkFace work_{engine_};
  LockFace locks_{engine_};
  std::unique_ptr<Ticker> ticker_ = std::make_unique<Ticker>(engine_);
};

std::unique_ptr<Authority> embed(Result<std::unique_ptr<Seat>> seat) {
  if (!seat) raise(seat.error());
  return std::make_unique<EmbeddedAuthority>(std::move(*seat));
}

}  // namespace

std::unique_ptr<Authority> Authority::open(const std::string& folder, const Settings& settings,
                                           const Storage& storage) {
  return embed(Seat::open(folder, settings, storage));
}

std::unique_ptr<Authority> Authority::in_memory(const Settings& settings) { return embed(Seat::in_memory(settings)); }

}  // namespace tenure

// Tenure's work leases: acquire and succeed over Zipf-distributed domains, whose offsets are counted here.
//
// The load is the one orchestrator of all domains, and has to keep their order: while a domain is idle and has a
// backlog, nothing but the backlog's head may be acquired. So a domain is closed, and no lane acquires a further offset
// of it, from the moment its offset in flight is to be reported until nothing waits behind it. Acquisitions that were
// sent before that are answered before the report is sent: it is left with the domain, for the lane that gets the last
// of those answers, and the lane that had it does other work meanwhile.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "expect.h"
#include "resp_speech.h"
#include "speeches.h"
#include "zipf.h"

namespace tenure::bench {
namespace {

constexpr std::size_t kDomains = 10'000;
constexpr double kZipfExponent = 0.99;

struct WorkReport {
  std::string token;
  Instant begun;  // when the offset's acquisition was
};

struct WorkDomain {
  std::string name;
  std::uint64_t next_offset = 0;
  std::size_t unanswered = 0;  // acquisitions
  bool is_closed = false;
  std::optional<WorkReport> left;
};

// A lane's way through one cycle, and what it does next.
struct WorkStep {
  std::size_t domain = 0;
  bool is_reporting = false;
  Instant begun;                    // of the offset that is reported
  std::optional<std::string> hint;  // the offset to go on with, in the same domain
};

class TenureWork : public RespSpeech {
 public:
  explicit TenureWork(const Plan& plan) : zipf_(kDomains, kZipfExponent), domains_(kDomains), steps_(plan.lanes()) {
    for (std::size_t i = 0; i < domains_.size(); ++i) domains_[i].name = fmt::format("bench-{}-{}", plan.run, i);
  }

  // Domains are somebody's accounts or devices: they stay, and what is measured is not how they are made.
  [[nodiscard]] bool is_warm() const override { return known_ == domains_.size(); }

  void begin(Lane lane, Turn& turn) override {
    WorkStep& step = steps_[lane];
    step.is_reporting = false;
    if (const auto hint = std::exchange(step.hint, std::nullopt)) return acquire(domains_[step.domain], *hint, turn);
    step.domain = choose();
    WorkDomain& domain = domains_[step.domain];
    acquire(domain, std::to_string(domain.next_offset++), turn);
  }

  void take(Lane lane, std::string_view reply, Turn& turn) override {
    WorkStep& step = steps_[lane];
    if (step.is_reporting) {
      take_reported(step, reply, turn);
    } else {
      take_acquired(step, reply, turn);
    }
  }

 private:
  // Each domain once, then by chance.
  std::size_t choose() {
    if (!is_warm()) return known_++;
    std::size_t domain = 0;
    do {
      domain = zipf_.draw();
    } while (domains_[domain].is_closed);
    return domain;
  }

  static void acquire(WorkDomain& domain, std::string_view offset, Turn& turn) {
    ++domain.unanswered;
    append_request(turn.ask(), {"WORK.ACQUIRE", domain.name, offset});
  }

  static void report(WorkStep& step, const WorkDomain& domain, const WorkReport& report, Turn& turn) {
    step.is_reporting = true;
    step.begun = report.begun;
    append_request(turn.ask(), {"WORK.SUCCEED", domain.name, report.token});
  }

  void take_acquired(WorkStep& step, std::string_view reply, Turn& turn) {
    WorkDomain& domain = domains_[step.domain];
    --domain.unanswered;
    RespReader reader(reply);
    const auto array = reader.next();
    const auto verdict = reader.next();
    expect(array && array->kind == '*' && verdict, "ACQUIRED or ENQUEUED", reply);
    if (verdict->text == "ACQUIRED") {
      const auto token = reader.next();
      expect(token && token->kind == '$', "a work lease's token", reply);
      domain.is_closed = true;
      domain.left = WorkReport{.token = std::string(token->text), .begun = turn.begun()};
    } else {
      expect(verdict->text == "ENQUEUED", "ACQUIRED or ENQUEUED", reply);
    }
    if (!domain.left || domain.unanswered > 0) return turn.give_up();
    report(step, domain, *std::exchange(domain.left, std::nullopt), turn);
  }

  void take_reported(WorkStep& step, std::string_view reply, Turn& turn) {
    RespReader reader(reply);
    const auto array = reader.next();
    const auto verdict = reader.next();
    expect(array && array->kind == '*' && verdict, "NO_BACKLOG or NEXT_HINT", reply);
    if (verdict->text == "NEXT_HINT") {
      const auto offset = reader.next();
      expect(offset && offset->kind == ':', "the hint's offset", reply);
      step.hint = offset->text;
    } else {
      expect(verdict->text == "NO_BACKLOG", "NO_BACKLOG or NEXT_HINT", reply);
      domains_[step.domain].is_closed = false;
    }
    turn.took_since(step.begun);
    turn.finish_untimed();
  }

  Zipf zipf_;
  std::vector<WorkDomain> domains_;
  std::vector<WorkStep> steps_;  // by lane
  std::size_t known_ = 0;        // domains that the server was told of
};

}  // namespace

std::unique_ptr<Speech> make_tenure_work(const Plan& plan) { return std::make_unique<TenureWork>(plan); }

}  // namespace tenure::bench

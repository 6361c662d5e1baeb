// beanstalkd: put, reserve, delete in the tube that all connections use.
#include <charconv>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "expect.h"
#include "speeches.h"

namespace tenure::bench {
namespace {

constexpr std::size_t kJobBytes = 100;
constexpr int kJobSeconds = 30;

enum class JobStep { kPutting, kReserving, kDeleting };

// One thread.
class BeanstalkdTask : public Speech {
 public:
  explicit BeanstalkdTask(const Plan& plan)
      : put_(fmt::format("put 0 0 {} {}\r\n{}\r\n", kJobSeconds, kJobBytes, std::string(kJobBytes, 'x'))),
        steps_(plan.lanes()) {}

  // A line; behind RESERVED <id> <bytes> the job's bytes and the end of their line.
  [[nodiscard]] std::size_t find_end(std::string_view input) const override {
    const std::size_t line = input.find("\r\n");
    if (line == std::string_view::npos) return 0;
    if (!input.starts_with("RESERVED ")) return line + 2;
    const std::string_view digits = input.substr(0, line).substr(input.rfind(' ', line) + 1);
    std::size_t bytes = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    expect(error == std::errc() && end == digits.data() + digits.size(), "RESERVED <id> <bytes>", input);
    const std::size_t whole = line + 2 + bytes + 2;
    return input.size() < whole ? 0 : whole;
  }

  void begin(Lane lane, Turn& turn) override {
    steps_[lane] = JobStep::kPutting;
    turn.ask() += put_;
  }

  void take(Lane lane, std::string_view reply, Turn& turn) override {
    switch (steps_[lane]) {
      case JobStep::kPutting:
        expect(reply.starts_with("INSERTED "), "INSERTED <id>", reply);
        steps_[lane] = JobStep::kReserving;
        turn.ask() += "reserve\r\n";
        return;
      case JobStep::kReserving: {
        expect(reply.starts_with("RESERVED "), "RESERVED <id> <bytes>", reply);
        const std::string_view behind = reply.substr(reply.find(' ') + 1);
        steps_[lane] = JobStep::kDeleting;
        turn.ask() += fmt::format("delete {}\r\n", behind.substr(0, behind.find(' ')));
        return;
      }
      case JobStep::kDeleting:
        expect(reply == "DELETED\r\n", "DELETED", reply);
        turn.finish();
    }
  }

 private:
  std::string put_;
  std::vector<JobStep> steps_;  // by lane
};

}  // namespace

std::unique_ptr<Speech> make_beanstalkd_task(const Plan& plan) { return std::make_unique<BeanstalkdTask>(plan); }

}  // namespace tenure::bench

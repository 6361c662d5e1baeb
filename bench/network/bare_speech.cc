// What Tenure is asked, without an authority behind it: each request is answered +OK once it is synced.
#include <string>
#include <utility>
#include <vector>

#include "expect.h"
#include "resp_speech.h"
#include "speeches.h"

namespace tenure::bench {
namespace {

// As long as those that Tenure is asked; the bare server does not look at the words.
constexpr std::string_view kToken = "1234567-0123456789abcdef";
constexpr std::string_view kTaskId = "0-0123456789abcdef";

std::string request(std::initializer_list<std::string_view> words) {
  std::string text;
  append_request(text, words);
  return text;
}

std::string acquire() { return request({"LOCK.ACQUIRE", "bench", "12345-12", "lane-12", "LEASE", "30000"}); }

// A cycle's requests, one after the other, the same for every lane. One thread.
class BareSpeech : public RespSpeech {
 public:
  BareSpeech(const Plan& plan, std::vector<std::string> requests)
      : requests_(std::move(requests)), answered_(plan.lanes()) {}

  void begin(Lane lane, Turn& turn) override {
    answered_[lane] = 0;
    turn.ask() += requests_.front();
  }

  void take(Lane lane, std::string_view reply, Turn& turn) override {
    expect(reply == "+OK\r\n", "OK", reply);
    if (++answered_[lane] == requests_.size()) return turn.finish();
    turn.ask() += requests_[answered_[lane]];
  }

 private:
  std::vector<std::string> requests_;
  std::vector<std::size_t> answered_;  // by lane: requests of its cycle
};

}  // namespace

std::unique_ptr<Speech> make_bare_lock(const Plan& plan) {
  return std::make_unique<BareSpeech>(plan,
                                      std::vector{acquire(), request({"LOCK.RELEASE", "bench", "12345-12", kToken})});
}

std::unique_ptr<Speech> make_bare_contended(const Plan& plan) {
  return std::make_unique<BareSpeech>(plan, std::vector{acquire()});
}

std::unique_ptr<Speech> make_bare_task(const Plan& plan) {
  return std::make_unique<BareSpeech>(
      plan, std::vector{request({"TASK.SUBMIT", "bench-12345", std::string(100, 'x')}),
                        request({"TASK.LEASE", "worker-12", "1", "bench-12345", "COUNT", "1"}),
                        request({"TASK.COMPLETE", kTaskId, kToken})});
}

}  // namespace tenure::bench

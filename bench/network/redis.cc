// Redis: a lock as its documentation makes one, and tasks by a stream with a consumer group.
#include <string>
#include <vector>

#include <fmt/core.h>

#include "expect.h"
#include "resp_speech.h"
#include "speeches.h"

namespace tenure::bench {
namespace {

constexpr std::string_view kRedisLeaseMs = "30000";
constexpr std::string_view kDeleteIfMine =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
constexpr std::size_t kStreamPayloadBytes = 100;
constexpr std::string_view kStreamEntriesMax = "10000";  // kept of those that are done

// SET key token NX PX ms, then the script. One thread.
class RedisLock : public RespSpeech {
 public:
  explicit RedisLock(const Plan& plan, bool is_contended = false)
      : is_contended_(is_contended), is_held_(plan.lanes()) {
    for (Lane lane = 0; lane < plan.lanes(); ++lane) {
      keys_.push_back(is_contended ? fmt::format("bench:{}-all", plan.run)
                                   : fmt::format("bench:{}-{}", plan.run, lane));
      tokens_.push_back(fmt::format("{}-{:016x}", lane, lane));
    }
  }

  [[nodiscard]] std::vector<std::string> preparations() const override {
    std::string request;
    append_request(request, {"SCRIPT", "LOAD", kDeleteIfMine});
    return {request};
  }

  void take_preparation(std::string_view reply) override {
    const auto digest = RespReader(reply).next();
    expect(digest && digest->kind == '$', "the script's digest", reply);
    digest_ = digest->text;
  }

  void begin(Lane lane, Turn& turn) override {
    is_held_[lane] = false;
    append_request(turn.ask(), {"SET", keys_[lane], tokens_[lane], "NX", "PX", kRedisLeaseMs});
  }

  void take(Lane lane, std::string_view reply, Turn& turn) override {
    if (is_held_[lane]) {
      expect(reply == ":1\r\n", "1 for a key deleted", reply);
      return turn.finish();
    }
    if (is_contended_ && reply == "$-1\r\n") return turn.finish();
    expect(reply == "+OK\r\n", "OK", reply);
    is_held_[lane] = true;
    append_request(turn.ask(), {"EVALSHA", digest_, "1", keys_[lane], tokens_[lane]});
  }

 private:
  bool is_contended_;
  std::string digest_;
  std::vector<std::string> keys_;    // by lane
  std::vector<std::string> tokens_;  // by lane
  std::vector<bool> is_held_;        // by lane: the reply to come is that to the script
};

enum class StreamStep { kAdding, kReading, kAcknowledging };

// The entry's id in what XREADGROUP answers for one stream and one entry.
std::string_view entry_id(std::string_view reply) {
  RespReader reader(reply);
  const std::string_view kinds = "**$**$";
  std::string_view text;
  for (const char kind : kinds) {
    const auto part = reader.next();
    expect(part && part->kind == kind, "a stream's entry", reply);
    text = part->text;
  }
  return text;
}

// One thread.
class RedisTask : public RespSpeech {
 public:
  explicit RedisTask(const Plan& plan) : stream_(fmt::format("bench:{}", plan.run)), steps_(plan.lanes()) {
    append_request(add_, {"XADD", stream_, "MAXLEN", "~", kStreamEntriesMax, "*", "payload",
                          std::string(kStreamPayloadBytes, 'x')});
    for (Lane lane = 0; lane < plan.lanes(); ++lane)
      append_request(reads_.emplace_back(), {"XREADGROUP", "GROUP", "workers", fmt::format("worker-{}", lane), "COUNT",
                                             "1", "STREAMS", stream_, ">"});
  }

  [[nodiscard]] std::vector<std::string> preparations() const override {
    std::string request;
    append_request(request, {"XGROUP", "CREATE", stream_, "workers", "$", "MKSTREAM"});
    return {request};
  }

  void take_preparation(std::string_view reply) override { expect(reply == "+OK\r\n", "OK", reply); }

  void begin(Lane lane, Turn& turn) override {
    steps_[lane] = StreamStep::kAdding;
    turn.ask() += add_;
  }

  void take(Lane lane, std::string_view reply, Turn& turn) override {
    switch (steps_[lane]) {
      case StreamStep::kAdding:
        expect(reply.starts_with('$'), "an entry's id", reply);
        steps_[lane] = StreamStep::kReading;
        turn.ask() += reads_[lane];
        return;
      case StreamStep::kReading:
        steps_[lane] = StreamStep::kAcknowledging;
        append_request(turn.ask(), {"XACK", stream_, "workers", entry_id(reply)});
        return;
      case StreamStep::kAcknowledging:
        expect(reply == ":1\r\n", "1 for an entry acknowledged", reply);
        turn.finish();
    }
  }

 private:
  std::string stream_;
  std::string add_;
  std::vector<std::string> reads_;  // by lane
  std::vector<StreamStep> steps_;   // by lane
};

}  // namespace

std::unique_ptr<Speech> make_redis_lock(const Plan& plan) { return std::make_unique<RedisLock>(plan); }
std::unique_ptr<Speech> make_redis_contended(const Plan& plan) { return std::make_unique<RedisLock>(plan, true); }
std::unique_ptr<Speech> make_redis_task(const Plan& plan) { return std::make_unique<RedisTask>(plan); }

}  // namespace tenure::bench

#include <filesystem>
#include <hiredis/hiredis.h>
#include <stdexcept>

#include "base/temporary_folder.h"
#include "log.h"
#include "process.h"

namespace tenure::testing {
namespace {

constexpr int kRedisTries = 5;

class Redis final : public Log {
 public:
  Redis() {
    const std::string program = std::string(PEERS) + "/redis-server";
    if (!std::filesystem::exists(program)) throw std::runtime_error("no Redis: scripts/test_peers has not been run");
    for (int i = 0; server_ == nullptr; ++i) try_start(program, i == kRedisTries);
  }

  void fill(const std::vector<std::string>& domains, int entries) override {
    const std::unique_ptr<redisContext, decltype(&redisFree)> redis(redisConnect("127.0.0.1", port_), redisFree);
    for (const auto& domain : domains) {
      for (int i = 1; i <= entries; ++i) {
        redisAppendCommand(redis.get(), "XADD %s 0-* entry %s", domain.c_str(), payload(domain, Offset{i}).c_str());
      }
    }
    for (std::size_t i = 0; i < domains.size() * static_cast<std::size_t>(entries); ++i) {
      redisReply* reply = nullptr;
      const bool is_added =
          redisGetReply(redis.get(), reinterpret_cast<void**>(&reply)) == REDIS_OK && reply->type == REDIS_REPLY_STRING;
      freeReplyObject(reply);
      if (!is_added) throw std::runtime_error("an entry could not be added");
    }
  }

  [[nodiscard]] std::vector<std::string> domains() const override { return {"a", "b", "c", "d"}; }
  [[nodiscard]] Offset first() const override { return {1}; }
  [[nodiscard]] std::vector<std::string> consumer(const std::string& tenured) const override {
    return {REDIS_STREAMS, tenured, std::to_string(port_)};
  }

 private:
  // The port may be somebody else's by the time it is used.
  void try_start(const std::string& program, bool is_last) {
    port_ = free_port();
    const std::string log = folder_.path() + "/log";
    server_ = std::make_unique<Process>(
        std::vector<std::string>{program, "--bind", "127.0.0.1", "--port", std::to_string(port_), "--dir",
                                 folder_.path(), "--save", ""},
        log);
    try {
      await_listening(*server_, port_);
    } catch (const std::exception&) {
      if (is_last) throw std::runtime_error("Redis does not start:\n" + text_of_file(log));
      server_.reset();
    }
  }

  TemporaryFolder folder_;
  int port_ = 0;
  std::unique_ptr<Process> server_;
};

}  // namespace

std::unique_ptr<Log> make_redis() { return std::make_unique<Redis>(); }

}  // namespace tenure::testing

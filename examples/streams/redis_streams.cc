// Books the entries of Redis streams, each in order: redis_streams <tenured> <port of Redis> <stream>...
//
// Whoever adds entries lets Redis number them, without gaps: XADD account-1 0-* entry "+10"
#include <charconv>
#include <cstdlib>
#include <deque>
#include <hiredis/hiredis.h>
#include <map>
#include <memory>
#include <stdexcept>

#include "consumer.h"

namespace {

using Reply = std::unique_ptr<redisReply, decltype(&freeReplyObject)>;

// 0-17 is 17.
std::string id_of(tenure::Offset offset) { return "0-" + std::to_string(offset.value); }

tenure::Offset offset_of(const std::string& id) {
  tenure::Offset offset{0};
  const char* const end = id.data() + id.size();
  if (!id.starts_with("0-") || std::from_chars(id.data() + 2, end, offset.value).ptr != end) {
    throw std::runtime_error("the entry " + id + " was not added as 0-*");
  }
  return offset;
}

std::string text_of(const redisReply* reply) { return {reply->str, reply->len}; }

class RedisStreams final : public tenure::OrderedSource {
 public:
  RedisStreams(int port, streams::Claims& claims, tenure::WorkLeases& work)
      : redis_(redisConnect("127.0.0.1", port), redisFree), claims_(claims), work_(work) {
    if (!redis_ || redis_->err != 0) throw std::runtime_error("no connection to Redis");
  }

  std::optional<tenure::OrderedItem> next(const std::stop_token& stop) override {
    while (read_.empty() && !stop.stop_requested()) {
      for (const auto& stream : claims_.claim()) {
        next_.emplace(stream, streams::first_undone(work_, stream, tenure::Offset{1}));
      }
      if (next_.empty()) {
        std::this_thread::sleep_for(streams::kPause);
      } else {
        read_more();
      }
    }
    if (read_.empty()) return std::nullopt;
    auto item = std::move(read_.front());
    read_.pop_front();
    return item;
  }

 private:
  // XREAD gives what comes after the ids it is told, of all streams at once; it waits if there is nothing.
  void read_more() {
    std::vector<std::string> words = {"XREAD",  "COUNT", "100", "BLOCK", std::to_string(streams::kPause.count()),
                                      "STREAMS"};
    for (const auto& [stream, next] : next_) words.push_back(stream);
    for (const auto& [stream, next] : next_) words.push_back(id_of(tenure::Offset{next.value - 1}));
    const Reply reply = ask(words);
    for (std::size_t i = 0; i < reply->elements; ++i) {
      const std::string stream = text_of(reply->element[i]->element[0]);
      const redisReply& entries = *reply->element[i]->element[1];
      for (std::size_t k = 0; k < entries.elements; ++k) take(stream, *entries.element[k]);
    }
  }

  // An entry is its id, and then fields and values, of which the first value is the payload.
  void take(const std::string& stream, const redisReply& entry) {
    const tenure::Offset offset = offset_of(text_of(entry.element[0]));
    read_.push_back({stream, offset, text_of(entry.element[1]->element[1])});
    next_.at(stream) = tenure::Offset{offset.value + 1};
  }

  Reply ask(const std::vector<std::string>& words) {
    std::vector<const char*> begins;
    std::vector<std::size_t> sizes;
    for (const auto& word : words) {
      begins.push_back(word.data());
      sizes.push_back(word.size());
    }
    Reply reply(static_cast<redisReply*>(
                    redisCommandArgv(redis_.get(), static_cast<int>(words.size()), begins.data(), sizes.data())),
                freeReplyObject);
    if (!reply) throw std::runtime_error("Redis does not answer");
    if (reply->type == REDIS_REPLY_ERROR) throw std::runtime_error(text_of(reply.get()));
    return reply;
  }

  const std::unique_ptr<redisContext, decltype(&redisFree)> redis_;
  streams::Claims& claims_;
  tenure::WorkLeases& work_;
  std::map<std::string, tenure::Offset> next_;  // by stream: what is read next
  std::deque<tenure::OrderedItem> read_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s <tenured> <port of Redis> <stream>...\n", argv[0]);
    return 2;
  }
  return streams::consume(argv[1], {argv + 3, argv + argc}, [&](auto& claims, auto& work) {
    return std::make_unique<RedisStreams>(std::atoi(argv[2]), claims, work);
  });
}

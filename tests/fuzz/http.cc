// HTTP and JSON: requests out of any bytes, whatever pieces they come in, and each put to an engine.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "authority/engine.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "fuzz.h"
#include "journal/memory_journal.h"
#include "server/http_reader.h"
#include "wire/http_exchange.h"

namespace tenure {
namespace {

constexpr server::HttpLimits kLimits{.head_bytes_max = 2048, .target_bytes_max = 512, .body_bytes_max = 4096};

struct Reading {
  std::vector<server::HttpRequest> requests;
  int broken = 0;  // the status of what is broken
};

Reading read(std::string_view input, std::size_t piece) {
  using Outcome = server::HttpReader::Outcome;
  Reading reading;
  server::HttpReader reader(kLimits);
  std::string buffer;
  for (std::size_t at = 0; at < input.size() && reading.broken == 0; at += piece) {
    buffer += input.substr(at, piece);
    for (auto step = reader.next(buffer);; step = reader.next(buffer)) {
      buffer.erase(0, step.consumed);
      if (step.outcome == Outcome::kRequest) reading.requests.push_back(std::move(*step.request));
      if (step.outcome == Outcome::kBroken) reading.broken = step.status;
      if (step.outcome == Outcome::kNeedMore || step.outcome == Outcome::kBroken) break;
    }
    TENURE_CHECK(reader.bytes() <= 16 * (kLimits.head_bytes_max + kLimits.body_bytes_max), "{} bytes are kept",
                 reader.bytes());
  }
  return reading;
}

class OpenPages final : public wire::HttpExchange::House {
 public:
  wire::HttpReply show(const wire::ServerPage& /*page*/) override { return {}; }
  [[nodiscard]] bool has_users() const override { return false; }
  std::optional<Failure> refusal(const users::User& /*user*/, const wire::Verb& /*verb*/,
                                 const wire::Request& /*request*/) override {
    return std::nullopt;
  }
};

void put_to_engine(const std::vector<server::HttpRequest>& requests) {
  ManualClock clock{Instant{1'000'000}};
  SeededEntropy entropy{1};
  MemoryJournal journal{MemoryJournal::Keep::kNothing};
  OpenPages pages;
  const std::unique_ptr<Engine> engine = Engine::start({}, {clock, entropy, journal}).value();
  for (const server::HttpRequest& request : requests) {
    int answers = 0;
    const auto exchange = wire::HttpExchange::begin(
        *engine, pages, Settings().payload_bytes_max,
        {.method = request.method, .target = request.target, .body = request.body}, [&](const wire::HttpReply& reply) {
          ++answers;
          TENURE_CHECK(reply.status >= 200 && reply.status < 600 && reply.status != 500, "status {}", reply.status);
        });
    engine->hand_over();
    exchange->close();
    TENURE_CHECK(answers <= 1, "{} answers to one request", answers);
  }
  engine->inspect([](const State& state) {
    TENURE_CHECK(state.digest() == state.recompute_digest(), "the digest is not the state's");
  });
}

}  // namespace

void fuzz(std::string_view input) {
  if (input.empty()) return;
  const std::size_t piece = 1 + static_cast<unsigned char>(input.front()) % 61;
  input.remove_prefix(1);
  const Reading whole = read(input, std::max<std::size_t>(input.size(), 1));
  const Reading pieces = read(input, piece);
  TENURE_CHECK(whole.requests.size() == pieces.requests.size(), "{} requests, in pieces of {} {}",
               whole.requests.size(), piece, pieces.requests.size());
  put_to_engine(whole.requests);
}

}  // namespace tenure

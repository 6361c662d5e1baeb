// A world (authority/testing.h) behind a server without sockets of the network: clients dial it, and speak the protocol
// with it, while its time is in the test's hand.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "authority/testing.h"
#include "base/mutex.h"
#include "client/client.h"
#include "wire/conversation.h"

namespace tenure::client {

// Thread-safe. The world outlives it, its clients do not.
class ServedWorld final : private wire::Conversation::House {
 public:
  explicit ServedWorld(World& world) : world_(world) {}
  ~ServedWorld() override {
    std::vector<std::thread> threads;
    {
      const MutexLock lock(mutex_);
      threads.swap(threads_);
      for (const auto& guest : guests_) ::shutdown(guest->descriptor, SHUT_RDWR);
    }
    for (auto& thread : threads) thread.join();
  }
  ServedWorld(const ServedWorld&) = delete;
  ServedWorld& operator=(const ServedWorld&) = delete;

  std::unique_ptr<Client> connect(const ClientSettings& settings = {}) {
    return make_client("world", settings, std::make_unique<WorldDialer>(*this));
  }
  // Does what time asks for.
  void run_due() {
    const MutexLock lock(mutex_);
    world_.pass(Millis{0});
    deliver();
  }
  // Every connection breaks, and so many tries to connect fail.
  void hang_up(int refusals = 0) {
    const MutexLock lock(mutex_);
    refusals_ = refusals;
    for (const auto& guest : guests_) ::shutdown(guest->descriptor, SHUT_RDWR);
  }

 private:
  struct Guest {
    int descriptor;
    std::shared_ptr<wire::Conversation> talk;
  };
  class WorldDialer final : public Dialer {
   public:
    explicit WorldDialer(ServedWorld& world) : world_(world) {}
    Result<std::unique_ptr<Stream>> dial(const std::string& /*address*/) override { return world_.admit(); }

   private:
    ServedWorld& world_;
  };

  Result<std::unique_ptr<Stream>> admit() {
    const MutexLock lock(mutex_);
    if (refusals_ > 0) {
      --refusals_;
      return fail_with(ErrorCode::kUnavailable, "nobody is there");
    }
    int ends[2];
    EXPECT_EQ(0, ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
    wire::Conversation::Terms terms;
    terms.client_id = ++numbers_;
    terms.own_session = fmt::format("connection-{}", numbers_);
    auto guest = std::make_shared<Guest>(Guest{ends[1], wire::Conversation::begin(*world_.engine, *this, terms)});
    guests_.push_back(guest);
    threads_.emplace_back([this, guest] { serve(guest); });
    return make_stream(ends[0]);
  }

  void serve(const std::shared_ptr<Guest>& guest) {
    char bytes[4096];
    for (ssize_t count = 0; (count = ::recv(guest->descriptor, bytes, sizeof bytes, 0)) > 0;) {
      const MutexLock lock(mutex_);
      guest->talk->receive({bytes, static_cast<std::size_t>(count)});
      deliver();
    }
    const MutexLock lock(mutex_);
    guest->talk->close();
    std::erase(guests_, guest);
    ::close(guest->descriptor);
    deliver();
  }
  // What one guest does may be the answer that another one waits for.
  void deliver() TENURE_REQUIRES(mutex_) {
    world_.engine->hand_over();
    for (bool has_more = true; has_more;) {
      has_more = false;
      for (const auto& guest : guests_) {
        guest->talk->go_on();
        world_.engine->hand_over();
        std::string output;
        guest->talk->take_output(output);
        if (output.empty()) continue;
        has_more = true;
        if (::send(guest->descriptor, output.data(), output.size(), MSG_NOSIGNAL) < 0) continue;
        guest->talk->delivered(output.size());
      }
    }
  }

  void on_answers(wire::Conversation& /*conversation*/) override {}
  std::optional<Failure> refusal(const wire::Conversation& /*conversation*/, const wire::Verb& /*verb*/,
                                 const wire::Request& /*request*/) override {
    return std::nullopt;
  }
  void check(wire::Conversation& /*conversation*/, const wire::Credentials& /*credentials*/,
             wire::Conversation::SignIn done) override {
    done(fail_with(ErrorCode::kNoAuth, "nobody is known here"));
  }
  void serve(wire::Conversation& /*conversation*/, const wire::Conversation::HouseRequests& /*request*/,
             wire::Conversation::Promise /*promise*/) override {}

  World& world_;
  Mutex mutex_;
  std::vector<std::shared_ptr<Guest>> guests_ TENURE_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ TENURE_GUARDED_BY(mutex_);
  std::uint64_t numbers_ TENURE_GUARDED_BY(mutex_) = 0;
  int refusals_ TENURE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenure::client

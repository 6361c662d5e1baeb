// What the client's tests share: a server played by the test, request by request.
#pragma once

#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "client/client.h"
#include "client/stream.h"
#include "wire/resp_parser.h"

namespace tenure::client {

inline constexpr int kPatienceSeconds = 60;  // for hangs, not for speed

inline std::string bulk(std::string_view text) { return fmt::format("${}\r\n{}\r\n", text.size(), text); }

// The server's end of a connection. One thread.
class Peer {
 public:
  explicit Peer(int descriptor) : descriptor_(descriptor) {
    const timeval patience{.tv_sec = kPatienceSeconds, .tv_usec = 0};
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  Peer(Peer&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), input_(std::move(other.input_)) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  Peer& operator=(Peer&&) = delete;
  ~Peer() { hang_up(); }

  // The next request, its words with a '|' between; "": the client has hung up, or says nothing. Who only asks whether
  // the server is there is told so.
  std::string hear() {
    while (true) {
      wire::RespParser parser;
      const auto step = parser.next(input_);
      if (step.outcome == wire::RespParser::Outcome::kRequest) {
        std::string words = fmt::format("{}", fmt::join(step.words, "|"));
        input_.erase(0, step.consumed);
        if (words != "PING") return words;
        say("+PONG\r\n");
        continue;
      }
      char bytes[4096];
      const ssize_t count = ::recv(descriptor_, bytes, sizeof bytes, 0);
      if (count <= 0) return "";
      input_.append(bytes, static_cast<std::size_t>(count));
    }
  }
  void say(std::string_view bytes) const {
    EXPECT_EQ(static_cast<ssize_t>(bytes.size()), ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  // Hears one thing, and answers.
  std::string answer(std::string_view bytes) {
    std::string words = hear();
    say(bytes);
    return words;
  }
  std::string greet() { return answer("%1\r\n" + bulk("server") + bulk("tenure")); }
  void hang_up() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
  std::string input_;
};

// Where the client's calls arrive. Thread-safe.
class Town {
 public:
  // The next connection that the client makes.
  Peer next() {
    std::unique_lock lock(mutex_);
    if (!dialled_.wait_for(lock, std::chrono::seconds(kPatienceSeconds), [&] { return !peers_.empty(); })) {
      ADD_FAILURE() << "the client does not connect";
      return Peer(-1);
    }
    const int descriptor = peers_.front();
    peers_.pop_front();
    return Peer(descriptor);
  }
  Peer next_greeted() {
    Peer peer = next();
    peer.greet();
    return peer;
  }
  // So many tries fail.
  void refuse(int times) {
    const std::lock_guard lock(mutex_);
    refusals_ = times;
  }
  std::vector<std::string> addresses() {
    const std::lock_guard lock(mutex_);
    return addresses_;
  }
  Result<std::unique_ptr<Stream>> take(const std::string& address) {
    const std::lock_guard lock(mutex_);
    addresses_.push_back(address);
    if (refusals_ > 0) {
      --refusals_;
      return fail_with(ErrorCode::kUnavailable, "nobody is there");
    }
    int ends[2];
    EXPECT_EQ(0, ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
    peers_.push_back(ends[1]);
    dialled_.notify_all();
    return make_stream(ends[0]);
  }
  ~Town() {
    for (const int descriptor : peers_) ::close(descriptor);
  }
  Town() = default;
  Town(const Town&) = delete;
  Town& operator=(const Town&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable dialled_;
  std::deque<int> peers_;
  std::vector<std::string> addresses_;
  int refusals_ = 0;
};

// Leads to the town, which outlives it. One thread.
class TownDialer final : public Dialer {
 public:
  explicit TownDialer(Town& town) : town_(town) {}
  Result<std::unique_ptr<Stream>> dial(const std::string& address) override { return town_.take(address); }

 private:
  Town& town_;
};

// --- a client of the town ---

inline constexpr Millis kLong = std::chrono::minutes(10);
inline const std::string kNil = "_\r\n";
inline const std::string kGrant = "*4\r\n" + bulk("7-token") + ":7\r\n:60000\r\n:1\r\n";

inline std::string created(std::string_view id) { return "*2\r\n" + bulk(id) + bulk("CREATED"); }

template <class Call>
auto start(Call call) {
  return std::async(std::launch::async, std::move(call));
}

template <class E, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// The word behind `option`.
inline std::string value_of(std::string_view option, const std::string& request) {
  const std::string before = fmt::format("|{}|", option);
  const std::size_t at = request.find(before);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + before.size();
  return request.substr(begin, request.find('|', begin) - begin);
}

class ClientTest : public ::testing::Test {
 protected:
  static ClientSettings settings() {
    ClientSettings settings;
    settings.timeout = std::chrono::seconds(kPatienceSeconds);
    settings.backoff_initial = Millis{1};
    settings.backoff_max = Millis{5};
    return settings;
  }
  std::unique_ptr<Client> make(const ClientSettings& settings) {
    return make_client("here:1", settings, std::make_unique<TownDialer>(town_));
  }
  // The lock is held by another, and who wants it waits for it on a connection of its own.
  Peer next_waiting(Peer& shared) {
    EXPECT_EQ("", value_of("WAIT", shared.answer(kNil)));
    return town_.next_greeted();
  }

  Town town_;
  std::unique_ptr<Client> client_ = make(settings());
  const LockName lock_{.domain = "d", .identifier = "i"};
};

}  // namespace tenure::client

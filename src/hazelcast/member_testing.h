// A member on a real socket that a test plays: alone in its cluster, with locks as Hazelcast has them, but without
// leases. What it does with real time and threads is little; what real members do is in tests/hazelcast.
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/mutex.h"
#include "hazelcast/testing.h"

namespace tenure::hazelcast {

// Thread-safe.
class PlayedMember {
 public:
  PlayedMember() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(0, ::bind(listener_, generic, sizeof address));
    EXPECT_EQ(0, ::listen(listener_, 16));
    socklen_t size = sizeof address;
    EXPECT_EQ(0, ::getsockname(listener_, generic, &size));
    port_ = ntohs(address.sin_port);
    porter_ = std::thread([this] { admit(); });
  }
  ~PlayedMember() {
    ::shutdown(listener_, SHUT_RDWR);
    porter_.join();
    drop_all();
    std::deque<std::thread> guests;
    {
      const MutexLock lock(mutex_);
      guests.swap(guests_);
    }
    for (auto& thread : guests) thread.join();
    ::close(listener_);
  }
  PlayedMember(const PlayedMember&) = delete;
  PlayedMember& operator=(const PlayedMember&) = delete;

  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  std::atomic<std::uint8_t> refusal{0};  // of signing in
  std::atomic<bool> is_mute{false};      // what is asked is done, but not answered
  std::atomic<bool> is_mad{false};       // answers mean nothing
  std::atomic<bool> is_shut{false};      // new connections end at once
  std::atomic<int> waits{0};             // how many there were

  // Every connection breaks.
  void drop_all() {
    const MutexLock lock(mutex_);
    for (const int guest : open_) ::shutdown(guest, SHUT_RDWR);
  }
  // As if its lease had ended.
  void free(const std::string& key) {
    const MutexLock lock(mutex_);
    locks_.erase(key);
    serve(key);
  }
  [[nodiscard]] bool is_free(const std::string& key) {
    const MutexLock lock(mutex_);
    return !locks_.contains(key);
  }

 private:
  struct Held {
    std::string holder;
    std::int64_t reference = 0;
    int count = 0;
  };
  struct Wish {
    int guest;
    std::int64_t correlation;
    std::string key;
    std::string holder;
    std::int64_t reference;
  };

  void admit() {
    for (int guest = 0; (guest = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      if (is_shut) {
        ::close(guest);
        continue;
      }
      const MutexLock lock(mutex_);
      open_.push_back(guest);
      guests_.emplace_back([this, guest] { listen(guest); });
    }
  }

  void listen(int guest) {
    MessageStream stream;
    std::string client;
    bool is_greeted = false;
    std::array<char, 4096> bytes{};
    for (ssize_t count = 0; (count = ::recv(guest, bytes.data(), bytes.size(), 0)) > 0;) {
      std::string_view heard(bytes.data(), static_cast<std::size_t>(count));
      if (!std::exchange(is_greeted, true)) heard.remove_prefix(kGreeting.size());
      stream.feed(heard);
      for (auto next = stream.next(); next && *next; next = stream.next()) {
        const MutexLock lock(mutex_);
        take(guest, client, **next);
      }
    }
    const MutexLock lock(mutex_);
    std::erase(open_, guest);
    std::erase_if(waiting_, [&](const Wish& wish) { return wish.guest == guest; });
    ::close(guest);
  }

  void take(int guest, std::string& client, const Message& asked) TENURE_REQUIRES(mutex_) {
    const std::int64_t correlation = asked.correlation();
    switch (asked.type()) {
      case 0x000100:
        client = asked.frames[0].content.substr(kRequestValues, 17);
        return say(guest, refusal != 0 ? refusal_of_sign_in(correlation, refusal) : welcome_of(kSelf, correlation, 4));
      case 0x000300:
        say(guest, members_of({{.uuid = kSelf, .host = "127.0.0.1", .port = port_}}, correlation));
        return say(guest, partitions_of({{kSelf, {0, 1, 2, 3}}}, correlation));
      case 0x011100:
        return try_lock(
            {guest, correlation, asked.frames[2].content, client + std::to_string(value(asked, 0)), value(asked, 3)},
            value(asked, 2) > 0);
      case 0x011300:
        return unlock({guest, correlation, asked.frames[2].content, client + std::to_string(value(asked, 0)), 0});
      case 0x013300:
        locks_.erase(asked.frames[2].content);
        answer({guest, correlation, {}, {}, 0}, bool_answer(0x013300, correlation, true));
        return serve(asked.frames[2].content);
      case 0x011200:
        return answer({guest, correlation, {}, {}, 0},
                      bool_answer(0x011200, correlation, locks_.contains(asked.frames[2].content)));
      default:
        return answer({guest, correlation, {}, {}, 0}, Speech(asked.type() + 1, correlation).value(char{0}).bytes());
    }
  }

  static std::int64_t value(const Message& asked, std::size_t index) {
    std::int64_t value = 0;
    std::memcpy(&value, asked.frames[0].content.data() + kRequestValues + index * sizeof value, sizeof value);
    return value;
  }

  void try_lock(const Wish& wish, bool may_wait) TENURE_REQUIRES(mutex_) {
    Held& held = locks_[wish.key];
    const bool is_free = held.count == 0;
    if (!is_free && held.holder != wish.holder) {
      if (may_wait) {
        waiting_.push_back(wish);
        ++waits;
      } else {
        answer(wish, bool_answer(0x011100, wish.correlation, false));
      }
      return;
    }
    if (is_free || held.reference != wish.reference) ++held.count;
    held.holder = wish.holder;
    held.reference = wish.reference;
    answer(wish, bool_answer(0x011100, wish.correlation, true));
  }

  void unlock(const Wish& wish) TENURE_REQUIRES(mutex_) {
    const auto found = locks_.find(wish.key);
    if (found == locks_.end() || found->second.holder != wish.holder) {
      return answer(wish, error_answer(wish.correlation, 26, "IllegalMonitorStateException"));
    }
    if (--found->second.count == 0) locks_.erase(found);
    answer(wish, bool_answer(0x011300, wish.correlation, true));
    serve(wish.key);
  }

  // The next one in line, if there is one.
  void serve(const std::string& key) TENURE_REQUIRES(mutex_) {
    for (auto wish = waiting_.begin(); wish != waiting_.end(); ++wish) {
      if (wish->key != key || locks_.contains(key)) continue;
      const Wish granted = *wish;
      waiting_.erase(wish);
      return try_lock(granted, false);
    }
  }

  void answer(const Wish& wish, const std::string& bytes) TENURE_REQUIRES(mutex_) {
    if (is_mute) return;
    say(wish.guest, is_mad ? std::string(64, '\xff') : bytes);
  }
  static void say(int guest, const std::string& bytes) { ::send(guest, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

  static constexpr Uuid kSelf{.high = 3, .low = 3};

  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::thread porter_;

  Mutex mutex_;
  std::deque<std::thread> guests_ TENURE_GUARDED_BY(mutex_);
  std::vector<int> open_ TENURE_GUARDED_BY(mutex_);
  std::map<std::string, Held> locks_ TENURE_GUARDED_BY(mutex_);
  std::deque<Wish> waiting_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::hazelcast

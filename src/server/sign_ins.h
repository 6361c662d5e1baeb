// Finds out whether passwords are right, beside the loop: that takes long, by intention, and nobody else waits for it.
//
// One thread of its own takes them one by one, so that whoever floods the server with passwords can use one core and
// the memory of one hash. A password that was found right before is found right at once. A wrong one is answered after
// a pause, which is a timer and no thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

#include <boost/asio/io_context.hpp>

#include <tenure/types.h>
#include "base/mutex.h"
#include "users/password.h"
#include "users/user.h"
#include "wire/conversation.h"

namespace tenure::server {

// One thread, the loop's, on which it answers, too. The context outlives it, and is not run after it.
class SignIns {
 public:
  using UserPointer = wire::Conversation::UserPointer;
  using Verdict = wire::Conversation::SignIn;

  // A wrong password is answered so much later.
  static constexpr Millis kPause = std::chrono::seconds(1);
  // Passwords that wait for the thread; beyond it they are refused at once.
  static constexpr std::size_t kWaitingMax = 256;

  explicit SignIns(boost::asio::io_context& io, Millis pause = kPause) : io_(io), pause_(pause) {}
  ~SignIns();
  SignIns(const SignIns&) = delete;
  SignIns& operator=(const SignIns&) = delete;

  // `user` is who has that name; null: nobody, which takes as long as a wrong password and is answered alike.
  void check(UserPointer user, std::string_view password, Verdict done);

  // How many were refused, ever.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  struct Attempt {
    UserPointer user;
    users::Secret password;
    Verdict done{};
    bool is_right = false;
  };

  void start();
  // False, and `done` is as it was: too many wait.
  bool take(Attempt attempt, Verdict& done) TENURE_EXCLUDES(mutex_);
  void work() TENURE_EXCLUDES(mutex_);
  // The next one; null: it is over.
  std::unique_ptr<Attempt> next() TENURE_EXCLUDES(mutex_);
  void finish(Attempt& attempt);
  void refuse(Verdict done);

  boost::asio::io_context& io_;
  const Millis pause_;
  users::KnownPasswords known_;
  std::uint64_t refused_ = 0;
  std::thread thread_;  // from the first attempt on

  Mutex mutex_;
  Condition changed_;
  std::deque<std::unique_ptr<Attempt>> waiting_ TENURE_GUARDED_BY(mutex_);
  bool is_over_ TENURE_GUARDED_BY(mutex_) = false;
};

}  // namespace tenure::server

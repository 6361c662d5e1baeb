#include "server/sign_ins.h"

#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace tenure::server {
namespace {

Failure wrong_credentials() {
  return {ErrorCode::kNoAuth, "AUTH: expected the name and the password of a user, found others"};
}

}  // namespace

// What waits is answered by its promises, on this thread.
SignIns::~SignIns() {
  {
    const MutexLock lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SignIns::check(UserPointer user, std::string_view password, Verdict done) {
  if (user != nullptr && known_.knows(*user, password)) return done(std::move(user));
  if (!thread_.joinable()) start();
  const bool is_taken = take({.user = std::move(user), .password = users::Secret(password)}, done);
  if (is_taken) return;
  ++refused_;
  done(fail_with(ErrorCode::kBackpressure, "AUTH: expected fewer than {} passwords to check, found as many",
                 kWaitingMax));
}

bool SignIns::take(Attempt attempt, Verdict& done) {
  const MutexLock lock(mutex_);
  if (waiting_.size() >= kWaitingMax) return false;
  attempt.done = std::move(done);
  waiting_.push_back(std::make_unique<Attempt>(std::move(attempt)));
  changed_.notify_one();
  return true;
}

void SignIns::start() {
  thread_ = std::thread([this] { work(); });
}

std::unique_ptr<SignIns::Attempt> SignIns::next() {
  const MutexLock lock(mutex_);
  while (waiting_.empty() && !is_over_) changed_.wait(mutex_);
  if (is_over_) return nullptr;
  auto attempt = std::move(waiting_.front());
  waiting_.pop_front();
  return attempt;
}

// The attempt ends on the loop's thread, whatever becomes of it.
void SignIns::work() {
  // How long it takes must not tell whether there is a user of that name.
  const std::string nobody = users::hash_password("").value_or("");
  while (auto attempt = next()) {
    const bool is_user = attempt->user != nullptr;
    const bool is_right = users::is_password_of(is_user ? attempt->user->hash : nobody, attempt->password.view());
    attempt->is_right = is_right && is_user;
    boost::asio::post(io_, [this, attempt = std::move(attempt)] { finish(*attempt); });
  }
}

void SignIns::finish(Attempt& attempt) {
  if (!attempt.is_right) return refuse(std::move(attempt.done));
  known_.learn(*attempt.user, attempt.password.view());
  attempt.done(std::move(attempt.user));
}

void SignIns::refuse(Verdict done) {
  ++refused_;
  auto timer = std::make_shared<boost::asio::steady_timer>(io_, pause_);
  timer->async_wait([timer, done = std::move(done)](const boost::system::error_code&) mutable {
    done(tl::unexpected(wrong_credentials()));
  });
}

}  // namespace tenure::server

// All connections of a client, and the one thread that serves them.
//
// Calls are sent on one line that they share, many in flight; one that waits has a line of its own, so that it holds up
// nobody. A session has its own lines, all of which have joined it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <absl/functional/any_invocable.h>

#include <tenure/client.h>
#include "base/clock.h"
#include "base/entropy.h"
#include "base/mutex.h"
#include "client/call.h"
#include "client/line.h"
#include "client/session_watch.h"
#include "client/stream.h"

namespace tenure::client {

// Thread-safe, but for what is said to be the loop's.
class Switchboard final : private Line::Exchange {
 public:
  // The clock outlives it.
  Switchboard(std::string address, ClientSettings settings, std::unique_ptr<Dialer> dialer, const Clock& clock);
  ~Switchboard() override;
  Switchboard(const Switchboard&) = delete;
  Switchboard& operator=(const Switchboard&) = delete;

  // Ends every call, those under way and all that come. Not on the loop's thread.
  void close() TENURE_EXCLUDES(mutex_);

  // The call is answered on the loop's thread, exactly once. Without a session it is sent on the line that all share.
  // One that waits, and one that may take long, has its own. A session that nobody has joined is INVALID.
  void ask(const std::shared_ptr<Call>& call, bool has_own_line = false, std::string_view session = {});
  // Ends a wait before its time, and what was not sent. What it has been given until then is still its answer.
  void cancel(std::shared_ptr<Call> call, std::string_view session);

  // Answered once the session is joined or, left by all that had joined it, once the server knows.
  void join(std::string_view session, std::optional<Millis> grace, Millis timeout,
            absl::AnyInvocable<void(Answer)> done);
  void leave(std::string_view session, Millis timeout, absl::AnyInvocable<void(Answer)> done);

  // The client's own session of that grace: it is joined from the first time on that it is asked for.
  std::string own_session(Millis grace);
  // Calls `lost` on the loop's thread each time the session may have ended, until the number that this gives is given
  // back: when that returns it is not being called any more.
  std::uint64_t watch(std::string_view session, std::function<void()> lost) TENURE_EXCLUDES(watchers_mutex_);
  void unwatch(std::uint64_t number) TENURE_EXCLUDES(watchers_mutex_);

  [[nodiscard]] Millis now() const { return clock_.boot(); }
  [[nodiscard]] Millis timeout() const { return settings_.timeout; }
  // Never the same twice, nor that of another client.
  std::string new_request_id();

 private:
  // The lines of a session, or of none. The loop's.
  struct Lane {
    std::string greeting;
    int greetings = 1;
    int members = 0;
    std::shared_ptr<SessionWatch> watch;  // null: of no session
    Millis grace{0};                      // the last that was given
    Millis ask_at{0};                     // whether the session's server is there
    std::unique_ptr<Line> shared;
    std::vector<std::unique_ptr<Line>> own;  // of calls that wait, and those that are free for the next
  };
  using Errand = absl::AnyInvocable<void()>;

  // --- the loop's ---
  void run();
  bool run_errands();
  void tend_all();
  void watch_all();
  void put(const std::shared_ptr<Call>& call, bool has_own_line, const std::string& session);
  void put_on_own_line(Lane& lane, std::shared_ptr<Call> call);
  void end_wait(const std::shared_ptr<Call>& call, const std::string& session);
  void enter(const std::string& session, std::optional<Millis> grace, std::shared_ptr<Call> call);
  void go_out(const std::string& session, Millis deadline, absl::AnyInvocable<void(Answer)> done);
  Lane& make_lane(const std::string& session);
  void watch_over(const std::string& session, Lane& lane, Millis time);
  void hang_up(const std::string& session);
  void tell_lost(const std::string& session) TENURE_EXCLUDES(watchers_mutex_);
  void greet_as_member(Lane& lane, const std::string& session, std::optional<Millis> grace) const;
  std::unique_ptr<Line> make_line(const Lane& lane);
  [[nodiscard]] std::size_t own_lines() const;
  void drop_free_lines(Lane& lane) const;
  void close_all();
  template <class Use>
  void for_each_line(const Use& use);

  // --- Line::Exchange, the loop's ---
  Line::Exchange& exchange() { return *this; }
  Result<std::unique_ptr<Stream>> dial() override;
  [[nodiscard]] std::string address() const override { return current_; }
  void move_to(const std::string& address) override { current_ = address; }
  void move_on() override;
  [[nodiscard]] Millis connect_timeout() const override { return settings_.connect_timeout; }
  Millis backoff(int failures) override;

  [[nodiscard]] std::string hello() const;
  static Failure closed();
  static Failure no_such_session(std::string_view session);

  bool do_on_loop(Errand errand) TENURE_EXCLUDES(mutex_);
  void wake() const;

  const ClientSettings settings_;
  const std::unique_ptr<Dialer> dialer_;
  const Clock& clock_;
  const int bell_;  // an eventfd, which ends the loop's sleep
  std::string id_;
  std::string session_id_;  // whoever knows it can join
  std::atomic<std::uint64_t> requests_{0};

  Mutex mutex_;
  std::vector<Errand> errands_ TENURE_GUARDED_BY(mutex_);
  bool is_closing_ TENURE_GUARDED_BY(mutex_) = false;

  struct Watcher {
    std::string session;
    std::function<void()> lost;
  };
  Mutex watchers_mutex_;
  std::map<std::uint64_t, Watcher> watchers_ TENURE_GUARDED_BY(watchers_mutex_);
  std::uint64_t watcher_numbers_ TENURE_GUARDED_BY(watchers_mutex_) = 0;

  // The loop's.
  SystemEntropy entropy_;
  std::vector<std::string> addresses_;
  std::size_t next_address_ = 0;
  std::string current_;
  std::map<std::string, Lane> lanes_;           // by session; "": of none
  std::vector<std::unique_ptr<Line>> parting_;  // of sessions that were left
  std::thread loop_;
};

}  // namespace tenure::client

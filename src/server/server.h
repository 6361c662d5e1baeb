// The server: one thread that talks to all clients.
//
// It goes in rounds:
//
//   wait until something happens -> read whatever has arrived, put each request to the engine -> do what time asks for
//   -> hand all of it over to the journal at once, and be given the answers that are ready by now -> send them, each
//   connection's in one piece
//
// The journal's thread does nothing but write: a batch that is durable wakes the loop, once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "authority/engine.h"
#include "authority/snapshot_maker.h"
#include "base/clock.h"
#include "base/result.h"
#include "journal/journal.h"
#include "server/config.h"
#include "server/connection.h"
#include "server/events.h"
#include "server/http_conversation.h"
#include "server/listener.h"
#include "server/lock_figures.h"
#include "server/log.h"
#include "server/node.h"
#include "server/readiness.h"
#include "server/round_clock.h"
#include "server/sign_ins.h"
#include "server/standing.h"
#include "server/tls.h"
#include "users/users.h"
#include "wire/conversation.h"
#include "wire/talk.h"

namespace tenure::server {

// Refused requests that are logged, unless all are (level debug).
inline constexpr double kRefusalsAtOnce = 50;
inline constexpr double kRefusalsPerSecond = 10;

// One thread, that of `run`; only `stop` and what wakes it are for any.
class Server final : private wire::Conversation::House, private HttpConversation::House, private Connection::Owner {
 public:
  // All of it outlives the server; the engine is closed by whoever runs the server, before that is destroyed.
  struct Ports {
    boost::asio::io_context& io;
    Engine& engine;
    const Journal& journal;
    SnapshotMaker* snapshots;  // null: nothing to make
    const Clock& clock;
    bool drives_time = true;  // false: Engine::run_due is called by others
    // Who must sign in; null: nobody.
    std::shared_ptr<const users::Users> users{};
    // What is shown to clients; null: the ports are plain.
    std::shared_ptr<const TlsIdentity> identity{};
    Millis replay_time{0};       // what the journal's opening took
    std::uint64_t restarts = 0;  // on its folder
    Node* node = nullptr;        // one of several; null: it is alone
  };
  Server(const Config& config, Ports ports, std::vector<std::unique_ptr<Listener>> listeners, std::uint64_t run_id);
  ~Server() override;

  // From now on clients may connect, and signals stop it or make it read users and certificates again; all are served
  // by `run`, which is called if this succeeds.
  Result<Done> open();
  // Serves until it is stopped, by `stop`, a signal or SHUTDOWN, or until the journal fails: then with that failure.
  // When it returns the engine takes no more requests, and every connection is closed.
  Result<Done> run();
  // One round of what has arrived, without waiting: `run` for a host that has more to do. False: it is over.
  bool poll();
  // Lets what is in flight be finished, as far as clients let it be within a few seconds.
  void stop(std::string reason);

 private:
  // --- conversations ---
  void on_answers(wire::Conversation& conversation) override;
  std::optional<Failure> refusal(const wire::Conversation& conversation, const wire::Verb& verb,
                                 const wire::Request& request) override;
  void check(wire::Conversation& conversation, const wire::Credentials& credentials,
             wire::Conversation::SignIn done) override;
  void check(HttpConversation& conversation, const wire::Credentials& credentials,
             wire::Conversation::SignIn done) override;
  void serve(wire::Conversation& conversation, const wire::Conversation::HouseRequests& request,
             wire::Conversation::Promise promise) override;
  using Promise = wire::Conversation::Promise;
  void answer(const wire::Conversation& asker, const wire::ListClients& request, Promise promise);
  void answer(const wire::Conversation& asker, const wire::KillClient& request, Promise promise);
  void answer(const wire::Conversation& asker, const wire::DescribeServer& request, Promise promise);
  void answer(const wire::Conversation& asker, const wire::GetConfig& request, Promise promise);
  void answer(const wire::Conversation& asker, const wire::MakeSnapshot& request, Promise promise) const;
  void answer(const wire::Conversation& asker, const wire::ShutDown& request, Promise promise);
  void on_answers(HttpConversation& conversation) override;
  [[nodiscard]] bool has_users() const override { return users_ != nullptr; }
  [[nodiscard]] SignIns::UserPointer user_named(std::string_view name) const override { return users_->find(name); }
  std::optional<Failure> refusal(const users::User& user, const wire::Verb& verb,
                                 const wire::Request& request) override;
  wire::HttpReply show(const wire::ServerPage& page) override;
  [[nodiscard]] double seconds() const override { return clock_.seconds(); }
  void on_attempt(const wire::LockAttempt& attempt) override { lock_figures_.on_attempt(attempt); }
  void on_refusal(const wire::Refusal& refusal) override;
  [[nodiscard]] bool is_one_of_several() const override { return ports_.node != nullptr; }
  [[nodiscard]] std::optional<std::string> leader() const override;
  [[nodiscard]] std::string leader_url() const override;
  [[nodiscard]] wire::HttpReply readiness() const;
  void tell_left_out();
  [[nodiscard]] Standing standing() const;
  Result<std::unique_ptr<Events::Stream>> open_events(std::uint64_t client_id,
                                                      const std::optional<std::string>& last_id) override;

  // --- users ---
  void check(std::uint64_t client_id, const wire::Credentials& credentials, wire::Conversation::SignIn done);
  std::optional<Failure> refusal(const users::User* user, const wire::Verb& verb, const wire::Request& request);
  [[nodiscard]] Result<SignIns::UserPointer> as_of_now(const SignIns::UserPointer& user) const;
  void log_refused_sign_in(std::uint64_t id) const;
  void await_reload();
  void reload_users();
  void reload_identity();
  void recheck_all();

  // --- connections ---
  [[nodiscard]] wire::Conversation::Terms terms_for(std::uint64_t id) const;
  void accept(boost::asio::ip::tcp::socket socket, Face face);
  void turn_away(boost::asio::ip::tcp::socket socket, Face face);
  std::shared_ptr<wire::Talk> begin_talk(std::uint64_t id, Face face);
  void on_input(Connection& connection) override;
  void on_unread(Connection& connection) override;
  void on_news(std::uint64_t id, Readiness::News news);
  void on_bytes(std::int64_t more) override;
  void on_certificate(Connection& connection, const std::string& name) override;
  void on_stranger(Connection& connection, bool is_stranger) override;
  void on_closed(Connection& connection) override;
  // False: there is none that may be closed.
  bool close_oldest_stranger();
  void close_largest();

  // --- rounds ---
  void begin();
  void wake();
  [[nodiscard]] bool is_loop_thread() const { return std::this_thread::get_id() == loop_; }
  void read_rest();
  void end_round();
  void go_on_with_answered();
  void tell_events();
  void forget_events();
  void settle_later(Connection& connection);
  void settle_all();
  void pass_time();
  void set_alarm();
  void look_around();
  void on_role(bool is_leading);

  // --- the end ---
  void await_signals();
  void begin_to_stop(const std::string& reason, Millis at_most);
  void fail(const Failure& failure);
  [[nodiscard]] bool is_all_said() const;
  void let_go();

  const Config& config_;
  const Ports ports_;
  Engine& engine_;
  RoundClock clock_;
  const std::uint64_t run_id_;
  const Millis since_;
  const Instant started_at_;
  std::thread::id loop_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  Readiness readiness_;
  boost::asio::signal_set signals_;
  boost::asio::signal_set hang_ups_;
  boost::asio::steady_timer alarm_;     // when time asks for something
  boost::asio::steady_timer patrol_;    // for clients that stall
  boost::asio::steady_timer deadline_;  // of stopping

  std::shared_ptr<const users::Users> users_;  // null: nobody needs to sign in
  SignIns sign_ins_;
  std::shared_ptr<const TlsIdentity> identity_;
  absl::btree_set<std::uint64_t> strangers_;  // connections of whom it is not known who they are
  Events events_;                             // outlives the connections, which listen
  Millis last_listened_{0};                   // when somebody last did
  LockFigures lock_figures_;
  std::array<std::uint64_t, kErrorCodes.size()> refused_{};                      // requests, by code
  LogValve refusals_{kRefusalsAtOnce, kRefusalsPerSecond};                       // into the log
  absl::flat_hash_map<std::uint64_t, std::unique_ptr<Connection>> connections_;  // by id
  std::vector<std::uint64_t> answered_;                                          // connections that have answers
  std::vector<Connection*> unsettled_;                                           // in this round
  std::vector<std::unique_ptr<Connection>> closed_;  // in this round: whoever is about to use one may
  std::vector<std::uint64_t> unread_;                // connections, to be read in the next
  std::vector<Promise> goodbyes_;                    // SHUTDOWNs, which are never answered
  std::vector<std::uint64_t> goodbye_ids_;           // their connections
  std::uint64_t accepted_ = 0;
  std::uint64_t turned_away_ = 0;
  std::int64_t buffer_bytes_ = 0;
  Instant due_;                // when time asks for something,
  Instant alarm_at_ = kNever;  // and when the alarm rings
  std::atomic<bool> is_due_earlier_ = true;
  bool is_stopping_ = false;
  bool is_over_ = false;
  std::optional<Failure> failure_;
};

}  // namespace tenure::server

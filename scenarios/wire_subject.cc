#include "wire_subject.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <sys/socket.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "answers.h"
#include "engine_subject.h"
#include "server/server.h"
#include "wire_answers.h"

namespace tenure::scenario {
namespace {

// A client's connection, which has asked at most one thing at a time. One thread.
class Caller {
 public:
  explicit Caller(const boost::asio::ip::tcp::endpoint& server) : socket_(io_) { socket_.connect(server); }

  // The next bytes are sent as far as the socket takes them; false: it wants to go on later.
  bool send(std::string_view& bytes) {
    const ssize_t sent = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return errno != EAGAIN;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
    return bytes.empty();
  }
  // True: something came.
  bool receive() {
    std::array<char, 1 << 16> bytes{};
    const ssize_t count = ::recv(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count <= 0) return false;
    input_.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
  }
  std::optional<wire::RespReply> reply() {
    auto first = wire::first_reply(input_);
    if (!first) throw ScriptError(first.error().message);
    if (!*first) return std::nullopt;
    input_.erase(0, (*first)->consumed);
    return std::move((*first)->reply);
  }

  std::string session;              // that it has joined
  std::string label;                // of the last who asked
  const WireVerb* asked = nullptr;  // and has no reply
  Subject::Answered done;

 private:
  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_;
  std::string input_;
};

// One thread.
class WireSubject final : public Subject {
 public:
  WireSubject() {
    world_.on_restart([this] { leave(); }, [this] { enter(); });
    enter();
  }
  ~WireSubject() override { leave(); }
  WireSubject(const WireSubject&) = delete;
  WireSubject& operator=(const WireSubject&) = delete;

  [[nodiscard]] Instant start() const override { return world_.start(); }
  void run(const Command& command, const Answered& done) override;
  [[nodiscard]] std::string breach() const override { return world_.breach(); }
  void finish() override { world_.finish(); }

 private:
  // --- the server ---
  void enter();
  void leave();
  void go_on();

  // --- callers ---
  Caller& idle_caller(const std::string& session);
  Caller* find_caller(const std::function<bool(const Caller&)>& is_wanted);
  wire::RespReply ask(Caller& caller, const std::vector<std::string>& words);
  void send(Caller& caller, const std::vector<std::string>& words);
  void hang_up(const Caller& caller);
  bool join(const Command& command, const Answered& done);
  bool cancel(const Command& command, const Answered& done);
  bool leave_session(const Command& command, const Answered& done);

  EngineSubject world_;
  server::Config config_;
  std::unique_ptr<boost::asio::io_context> io_;
  boost::asio::ip::tcp::endpoint address_;
  std::unique_ptr<server::Server> server_;  // null: its journal has failed
  std::list<Caller> callers_;
  std::set<std::string> labels_;  // of all who have asked
};

void WireSubject::enter() {
  config_.settings = world_.limits();
  io_ = std::make_unique<boost::asio::io_context>(1);
  auto listener = server::Listener::bind(*io_, "127.0.0.1", 0);
  if (!listener) throw ScriptError(listener.error().message);
  address_ = (*listener)->address();
  std::vector<std::unique_ptr<server::Listener>> listeners;
  listeners.push_back(std::move(*listener));
  server_ = std::make_unique<server::Server>(config_,
                                             server::Server::Ports{.io = *io_,
                                                                   .engine = world_.engine(),
                                                                   .journal = world_.frames_kept(),
                                                                   .snapshots = nullptr,
                                                                   .clock = world_.clock(),
                                                                   .drives_time = false},
                                             std::move(listeners), 1);
  if (const auto open = server_->open(); !open) throw ScriptError(open.error().message);
}

void WireSubject::leave() {
  callers_.clear();
  server_.reset();
  io_.reset();
}

// Until nobody has anything more to say.
void WireSubject::go_on() {
  bool has_news = true;
  while (std::exchange(has_news, false)) {
    if (server_ != nullptr && !server_->poll()) {
      for (Caller& caller : callers_)
        while (caller.receive()) continue;
      server_.reset();
    }
    for (Caller& caller : callers_) {
      while (caller.receive()) has_news = true;
      if (caller.asked == nullptr) continue;
      if (const auto reply = caller.reply())
        std::exchange(caller.done, nullptr)(answer_of(*std::exchange(caller.asked, nullptr), *reply));
    }
  }
}

Caller* WireSubject::find_caller(const std::function<bool(const Caller&)>& is_wanted) {
  for (Caller& caller : callers_) {
    if (is_wanted(caller)) return &caller;
  }
  return nullptr;
}

Caller& WireSubject::idle_caller(const std::string& session) {
  Caller* found =
      find_caller([&](const Caller& caller) { return caller.asked == nullptr && caller.session == session; });
  if (found != nullptr) return *found;
  Caller& caller = callers_.emplace_back(address_);
  ask(caller, {"HELLO", "3"});
  if (!session.empty()) ask(caller, {"CLIENT", "SESSION", session});
  caller.session = session;
  return caller;
}

void WireSubject::send(Caller& caller, const std::vector<std::string>& words) {
  const std::string bytes = request_bytes(words);
  std::string_view left = bytes;
  while (!caller.send(left)) server_->poll();
}

wire::RespReply WireSubject::ask(Caller& caller, const std::vector<std::string>& words) {
  send(caller, words);
  std::optional<wire::RespReply> reply;
  for (int i = 0; !reply && i < 100; ++i) {
    server_->poll();
    caller.receive();
    reply = caller.reply();
  }
  if (!reply) throw ScriptError(fmt::format("{} is not answered", words.front()));
  return *reply;
}

void WireSubject::hang_up(const Caller& caller) {
  callers_.remove_if([&](const Caller& other) { return &other == &caller; });
  go_on();
}

// A session is joined by a connection of its own.
bool WireSubject::join(const Command& command, const Answered& done) {
  std::vector<std::string> words = {"CLIENT", "SESSION"};
  words.insert(words.end(), command.words.begin(), command.words.end());
  Caller& caller = callers_.emplace_back(address_);
  ask(caller, {"HELLO", "3"});
  const wire::RespReply reply = ask(caller, words);
  if (reply.kind == wire::RespReply::Kind::kSimple) caller.session = command.words.front();
  done(reply.kind == wire::RespReply::Kind::kError ? say("-" + reply.text) : Answer{});
  return true;
}

// Who waits would end its wait by leaving: such a leave is the engine's.
bool WireSubject::leave_session(const Command& command, const Answered& done) {
  const Caller* member = find_caller([&](const Caller& caller) {
    return !command.words.empty() && caller.session == command.words.front() && caller.asked == nullptr;
  });
  if (member == nullptr) return false;
  hang_up(*member);
  done({});
  return true;
}

// The empty answer of one that has hung up reaches nobody: what a script expects of it is what a caller in the same
// process is told.
bool WireSubject::cancel(const Command& command, const Answered& done) {
  if (command.words.empty() || !labels_.contains(command.words.front())) return false;
  Caller* caller =
      find_caller([&](const Caller& other) { return other.asked != nullptr && other.label == command.words.front(); });
  done(say(caller == nullptr ? "not waiting" : "cancelled"));
  if (caller == nullptr) return true;
  caller->done(caller->asked->form == WireVerb::Form::kMaps ? list_of({}) : say("nil"));
  hang_up(*caller);
  return true;
}

void WireSubject::run(const Command& command, const Answered& done) {
  const WireVerb* verb = server_ == nullptr ? nullptr : find_wire_verb(command.verb);
  const bool is_done = server_ != nullptr && ((command.verb == "session.join" && join(command, done)) ||
                                              (command.verb == "session.leave" && leave_session(command, done)) ||
                                              (command.verb == "cancel" && cancel(command, done)));
  const auto word = [&](std::string_view name) { return std::find(command.words.begin(), command.words.end(), name); };
  const auto bound = word("BOUND");
  const std::string session = bound == command.words.end() || bound + 1 == command.words.end() ? "" : *(bound + 1);
  // A session that nobody has joined, and a user, cannot be named on the wire; nor can no queue.
  const bool is_inexpressible =
      word("USER") != command.words.end() || (command.verb == "lease" && command.words.size() < 2) ||
      (!session.empty() && find_caller([&](const Caller& caller) { return caller.session == session; }) == nullptr);
  if (!is_done && (verb == nullptr || is_inexpressible)) {
    world_.run(command, done);
  } else if (!is_done) {
    Caller& caller = idle_caller(session);
    caller.label = command.label;
    labels_.insert(command.label);
    caller.asked = verb;
    caller.done = done;
    send(caller, request_words(*verb, command));
  }
  go_on();
}

}  // namespace

std::unique_ptr<Subject> make_wire_subject() {
  spdlog::set_level(spdlog::level::off);  // a journal that fails on purpose is no news
  return std::make_unique<WireSubject>();
}

}  // namespace tenure::scenario

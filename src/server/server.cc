#include "server/server.h"

#include <algorithm>
#include <csignal>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

namespace tenure::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Long pauses are cut: the boot clock counts suspension, the timer may not.
constexpr Millis kLongestPause = std::chrono::seconds(10);
constexpr Millis kPatrol = std::chrono::seconds(1);
// Events are kept for so long when nobody listens: whoever has lost its connection comes again.
constexpr Millis kEventsKept = std::chrono::seconds(60);
// Requests of one connection at a time: each may be answered with a whole result, before anything of it is sent.
constexpr std::size_t kUnderWay = 128;
// Of the ten seconds that stopping may take, what clients may use; and when the journal has failed.
constexpr Millis kStopAtMost = std::chrono::seconds(6);
constexpr Millis kFailAtMost = Millis{300};

}  // namespace

Server::Server(const Config& config, Ports ports, std::vector<std::unique_ptr<Listener>> listeners,
               std::uint64_t run_id)
    : config_(config),
      ports_(ports),
      engine_(ports.engine),
      clock_(ports.clock),
      run_id_(run_id),
      since_(ports.clock.boot()),
      started_at_(ports.clock.wall()),
      listeners_(std::move(listeners)),
      readiness_(
          ports.io, [this] { clock_.look(); }, [this](std::uint64_t id, Readiness::News news) { on_news(id, news); }),
      signals_(ports.io),
      hang_ups_(ports.io),
      alarm_(ports.io),
      patrol_(ports.io),
      deadline_(ports.io),
      users_(ports_.users),
      sign_ins_(ports.io),
      identity_(ports_.identity),
      events_({.streams = config.clients.event_streams, .kept_bytes = config.clients.event_bytes}) {}

Server::~Server() { let_go(); }

// --- rounds ---

Result<Done> Server::open() {
  await_signals();
  await_reload();
  for (const auto& listener : listeners_) {
    auto listening = listener->listen(
        [this, face = listener->face()](asio::ip::tcp::socket socket) { accept(std::move(socket), face); });
    if (!listening) return listening;
  }
  return Done{};
}

void Server::begin() {
  loop_ = std::this_thread::get_id();
  engine_.on_earlier_due([this] {
    is_due_earlier_ = true;
    if (!is_loop_thread()) wake();
  });
  engine_.on_ready([this] { wake(); });
  const auto tell = [this](const Failure& failure) { asio::post(ports_.io, [this, failure] { fail(failure); }); };
  if (ports_.node != nullptr) {
    const auto tell_role = [this](bool is_leading) { asio::post(ports_.io, [=, this] { on_role(is_leading); }); };
    ports_.node->start({.on_role = tell_role, .on_broken = tell});
  } else {
    engine_.on_failure(tell);
    engine_.watch_locks(&lock_figures_);
  }
  look_around();
}

// What a connection has joined was the last term's.
void Server::on_role(bool is_leading) {
  if (is_leading) {
    lock_figures_.begin_anew();
    engine_.watch_locks(&lock_figures_);
    return;
  }
  for (const auto& [id, connection] : connections_) {
    if (!connection->has_session()) continue;
    connection->end();
  }
}

Result<Done> Server::run() {
  begin();
  while (!is_over_) {
    if (unread_.empty()) ports_.io.run_one();
    ports_.io.poll();
    read_rest();
    end_round();
  }
  let_go();
  return failure_ ? Result<Done>(tl::unexpected(*failure_)) : Done{};
}

bool Server::poll() {
  if (loop_ == std::thread::id()) begin();
  do {
    read_rest();
    end_round();
  } while ((ports_.io.poll() > 0 || !unread_.empty()) && !is_over_);
  return !is_over_;
}

void Server::wake() {
  asio::post(ports_.io, [] {});
}

// The loop looks for it before it sleeps.
void Server::on_answers(wire::Conversation& conversation) { answered_.push_back(conversation.client_id()); }
void Server::on_answers(HttpConversation& conversation) { answered_.push_back(conversation.client_id()); }

void Server::read_rest() {
  std::vector<std::uint64_t> unread;
  unread.swap(unread_);
  for (const std::uint64_t id : unread) {
    const auto found = connections_.find(id);
    if (found != connections_.end()) found->second->read();
  }
}

// What is answered may let more requests begin, and those may be answered at once.
void Server::end_round() {
  clock_.look();
  do {
    pass_time();
    if (engine_.commit_here()) clock_.look();
    engine_.hand_over();
    if (!answered_.empty()) go_on_with_answered();
    if (events_.is_begun()) tell_events();
    settle_all();
  } while (!answered_.empty() || !unsettled_.empty());
  closed_.clear();
  set_alarm();
  if (is_stopping_ && is_all_said()) is_over_ = true;
}

void Server::go_on_with_answered() {
  std::vector<std::uint64_t> answered;
  answered.swap(answered_);
  for (const std::uint64_t id : answered) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) continue;
    found->second->go_on();
    settle_later(*found->second);
  }
  // On its way before the answers are.
  engine_.hand_over();
}

// Nothing is kept, let alone written as JSON, before somebody listens.
Result<std::unique_ptr<Events::Stream>> Server::open_events(std::uint64_t client_id,
                                                            const std::optional<std::string>& last_id) {
  if (!events_.is_begun()) events_.begin(engine_.follow());
  last_listened_ = ports_.clock.boot();
  return events_.listen(client_id, last_id);
}

void Server::tell_events() {
  const auto frames = engine_.take_durable();
  if (frames.empty()) return;
  for (const auto& frame : frames) events_.tell(frame.sequence, frame.stamp, frame.payload);
  for (const std::uint64_t id : events_.clients()) settle_later(*connections_.at(id));
}

void Server::forget_events() {
  if (!events_.is_begun()) return;
  if (!events_.clients().empty()) last_listened_ = ports_.clock.boot();
  if (ports_.clock.boot() - last_listened_ <= kEventsKept) return;
  engine_.unfollow();
  events_.end();
}

void Server::settle_later(Connection& connection) {
  if (connection.mark_unsettled()) unsettled_.push_back(&connection);
}

void Server::settle_all() {
  std::vector<Connection*> round;
  round.swap(unsettled_);
  for (Connection* const connection : round) connection->settle();
  if (buffer_bytes_ > static_cast<std::int64_t>(config_.clients.buffer_bytes)) close_largest();
}

void Server::pass_time() {
  if (!ports_.drives_time) return;
  if (!is_due_earlier_.exchange(false) && engine_.now() < due_) return;
  due_ = engine_.run_due();
}

void Server::set_alarm() {
  if (!ports_.drives_time || alarm_at_ <= due_) return;
  const Instant now = engine_.now();
  const Millis pause = std::clamp(due_ - now, Millis{0}, kLongestPause);
  alarm_at_ = now + pause;
  alarm_.expires_after(pause);
  alarm_.async_wait([this](const error_code& error) {
    if (!error) alarm_at_ = kNever;
  });
}

void Server::look_around() {
  patrol_.expires_after(kPatrol);
  patrol_.async_wait([this](const error_code& error) {
    if (error) return;
    clock_.look();
    std::vector<Connection*> all;
    all.reserve(connections_.size());
    for (const auto& [id, connection] : connections_) all.push_back(connection.get());
    for (Connection* const connection : all) {
      connection->close_if_stalled();
      connection->close_if_stranger();
    }
    forget_events();
    tell_left_out();
    look_around();
  });
}

// From now on nobody calls. What is answered yet is answered to conversations that are closed.
void Server::let_go() {
  if (ports_.node != nullptr) ports_.node->stop();
  engine_.on_earlier_due(nullptr);
  engine_.on_failure(nullptr);
  engine_.watch_locks(nullptr);
  while (!connections_.empty()) connections_.begin()->second->close();
  engine_.on_ready(nullptr);
}

// --- connections ---

wire::Conversation::Terms Server::terms_for(std::uint64_t id) const {
  wire::Conversation::Terms terms{
      .client_id = id,
      .own_session = fmt::format("connection:{:016x}:{}", run_id_, id),
      .payload_bytes_max = config_.settings.payload_bytes_max,
      .limits = {.requests = {.request_bytes_max = config_.clients.request_bytes},
                 .under_way_max = kUnderWay,
                 .pipelined_bytes_max = config_.clients.pipelined_bytes,
                 .output_bytes_max = kOutputBegun},
  };
  if (users_ == nullptr) return terms;
  terms.before_sign_in = {.requests = {.request_bytes_max = kStrangerBytes,
                                       .words_max = kStrangerWords,
                                       .line_bytes_max = kStrangerBytes,
                                       .skipped_bytes_max = kStrangerBytes,
                                       .skipped_words_max = kStrangerWords},
                          .under_way_max = kStrangerWords,
                          .pipelined_bytes_max = kStrangerBytes,
                          .output_bytes_max = kStrangerBytes};
  return terms;
}

void Server::accept(asio::ip::tcp::socket socket, Face face) {
  if (connections_.size() >= config_.clients.connections) return turn_away(std::move(socket), face);
  if (strangers_.size() >= config_.clients.strangers && !close_oldest_stranger()) {
    return turn_away(std::move(socket), face);
  }
  const std::uint64_t id = ++accepted_;
  Connection::Owner& owner = *this;
  auto made =
      std::make_unique<Connection>(std::move(socket), identity_, begin_talk(id, face), owner, config_.clients, clock_);
  Connection& connection = *connections_.emplace(id, std::move(made)).first->second;
  connection.start();
  if (const auto watched = readiness_.watch(connection.socket(), id); !watched) {
    connection.close(watched.error().message);
  }
}

void Server::turn_away(asio::ip::tcp::socket socket, Face face) {
  ++turned_away_;
  if (identity_ != nullptr) return;  // nothing can be said before the handshake
  const Failure failure{ErrorCode::kBackpressure, fmt::format("connections: expected fewer than {}, found {}",
                                                              config_.clients.connections, connections_.size())};
  const std::string reply = face == Face::kRedis ? fmt::format("-{} {}\r\n", to_string(failure.code), failure.message)
                                                 : http_text(wire::http_error(failure), {.is_last = true});
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(reply), ignored);
}

std::shared_ptr<wire::Talk> Server::begin_talk(std::uint64_t id, Face face) {
  if (face == Face::kHttp) {
    HttpConversation::House& house = *this;
    return std::make_shared<HttpConversation>(
        engine_, house, clock_,
        HttpConversation::Terms{.client_id = id,
                                .limits = {.body_bytes_max = config_.clients.request_bytes},
                                .payload_bytes_max = config_.settings.payload_bytes_max,
                                .pipelined_bytes_max = config_.clients.pipelined_bytes,
                                .output_bytes_max = kOutputBegun,
                                .arrival = config_.clients.stalled,
                                .heartbeat = config_.clients.event_heartbeat,
                                .is_local = users_ == nullptr && !config_.is_insecure});
  }
  return wire::Conversation::begin(engine_, *this, terms_for(id));
}

void Server::on_input(Connection& connection) {
  settle_later(connection);
  engine_.commit_ahead();
}

void Server::on_unread(Connection& connection) { unread_.push_back(connection.id()); }

// Of one that another has closed meanwhile there is no news.
void Server::on_news(std::uint64_t id, Readiness::News news) {
  const auto found = connections_.find(id);
  if (found != connections_.end()) found->second->on_news(news);
}

void Server::on_bytes(std::int64_t more) { buffer_bytes_ += more; }

void Server::on_closed(Connection& connection) {
  const auto found = connections_.find(connection.id());
  closed_.push_back(std::move(found->second));
  connections_.erase(found);
}

void Server::close_largest() {
  const auto largest = std::max_element(connections_.begin(), connections_.end(), [](const auto& a, const auto& b) {
    return a.second->bytes() < b.second->bytes();
  });
  if (largest == connections_.end()) return;
  largest->second->close("the buffers of all connections are too large, and its own is the largest");
}

// --- the end ---

void Server::await_signals() {
  if (!is_stopping_) {
    error_code ignored;
    signals_.add(SIGTERM, ignored);
    signals_.add(SIGINT, ignored);
  }
  signals_.async_wait([this](const error_code& error, int number) {
    if (error) return;
    // A second one means it.
    if (is_stopping_) is_over_ = true;
    begin_to_stop(number == SIGINT ? "SIGINT" : "SIGTERM", kStopAtMost);
    await_signals();
  });
}

void Server::stop(std::string reason) {
  asio::post(ports_.io, [this, reason = std::move(reason)] { begin_to_stop(reason, kStopAtMost); });
}

void Server::fail(const Failure& failure) {
  failure_ = failure;
  begin_to_stop(failure.message, kFailAtMost);
}

// Only those are left who asked for the end, and are answered by it.
bool Server::is_all_said() const {
  return connections_.size() <= goodbye_ids_.size() &&
         std::all_of(connections_.begin(), connections_.end(), [&](const auto& entry) {
           return std::find(goodbye_ids_.begin(), goodbye_ids_.end(), entry.first) != goodbye_ids_.end();
         });
}

void Server::begin_to_stop(const std::string& reason, Millis at_most) {
  if (is_stopping_ && !failure_) return;
  deadline_.expires_after(at_most);
  deadline_.async_wait([this](const error_code& error) {
    if (error) return;
    log_warning("stopping.cut_off", "these connections did not take their answers in time, and are cut off",
                {{"connections", connections_.size()}});
    is_over_ = true;
  });
  if (std::exchange(is_stopping_, true)) return;
  log_info("stopping", reason);
  for (const auto& listener : listeners_) listener->close();
  // Before those who wait are answered: their answers say that they are the last.
  for (const auto& [id, connection] : connections_) connection->end();
  engine_.close();
}

}  // namespace tenure::server

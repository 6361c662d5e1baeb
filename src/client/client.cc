#include "client/client.h"

#include <charconv>

#include "base/files.h"
#include "client/asking.h"
#include "client/tls_dialer.h"

namespace tenure::client {
namespace {

const SystemClock& machine_clock() {
  static const SystemClock kClock;
  return kClock;
}

// Closes the switchboard with the last of its clients. Thread-safe.
class Closer {
 public:
  explicit Closer(std::shared_ptr<Switchboard> board) : board_(std::move(board)) {}
  ~Closer() { board_->close(); }
  Closer(const Closer&) = delete;
  Closer& operator=(const Closer&) = delete;

 private:
  std::shared_ptr<Switchboard> board_;
};

void expect_word(const Answer& answer) {
  if (!answer.reply) raise_remote(answer.reply.error());
}

// Thread-safe.
class RemoteAuthority final : public Client {
 public:
  RemoteAuthority(std::shared_ptr<Closer> closer, const Desk& desk)
      : closer_(std::move(closer)), desk_(desk), tasks_(desk), work_(desk), locks_(desk) {}

  Tasks& tasks() override { return tasks_; }
  WorkLeases& work() override { return work_; }
  Locks& locks() override { return locks_; }

  void join(std::string_view session, std::optional<Millis> grace) override {
    Reception<Answer> reception;
    desk_.board->join(session, grace, desk_.timeout,
                      [tell = reception.callback()](Answer answer) mutable { tell(std::move(answer)); });
    expect_word(*reception.wait());
  }
  void leave(std::string_view session) override {
    Reception<Answer> reception;
    desk_.board->leave(session, desk_.timeout,
                       [tell = reception.callback()](Answer answer) mutable { tell(std::move(answer)); });
    expect_word(*reception.wait());
  }

  [[nodiscard]] Instant now() const override;
  [[nodiscard]] std::string info() const override {
    Answer answer = ask(desk_, make_call(desk_, wire::RequestWriter().word(std::string_view("INFO")).finish()));
    expect_word(answer);
    return std::move(answer.reply->text);
  }
  // It takes as long as it takes, and nobody waits behind it.
  void snapshot() override {
    const Desk desk{desk_.board, std::max(desk_.timeout, Millis{std::chrono::hours(1)})};
    expect_answer<Done>(ask(desk, make_call(desk, wire::write_request(wire::MakeSnapshot{})), true));
  }
  [[nodiscard]] std::unique_ptr<Client> within(Millis timeout) const override {
    return std::make_unique<RemoteAuthority>(closer_, Desk{desk_.board, timeout});
  }

 private:
  const std::shared_ptr<Closer> closer_;
  const Desk desk_;
  RemoteTasks tasks_;
  RemoteWork work_;
  RemoteLocks locks_;
};

std::int64_t number_of(const wire::RespReply& reply) {
  std::int64_t number = 0;
  const char* const end = reply.text.data() + reply.text.size();
  const auto [stop, error] = std::from_chars(reply.text.data(), end, number);
  if (error != std::errc{} || stop != end) throw Unavailable(ErrorCode::kUnavailable, "the server tells no time");
  return number;
}

// Seconds, and microseconds.
Instant RemoteAuthority::now() const {
  const Answer answer = ask(desk_, make_call(desk_, wire::write_request(wire::TellTime{})));
  expect_word(answer);
  const auto& parts = answer.reply->items;
  if (parts.size() != 2) throw Unavailable(ErrorCode::kUnavailable, "the server tells no time");
  return Instant{number_of(parts[0]) * 1000 + number_of(parts[1]) / 1000};
}

}  // namespace

std::unique_ptr<Client> make_client(const std::string& address, const ClientSettings& settings,
                                    std::unique_ptr<Dialer> dialer) {
  auto board = std::make_shared<Switchboard>(address, settings, std::move(dialer), machine_clock());
  auto closer = std::make_shared<Closer>(board);
  return std::make_unique<RemoteAuthority>(std::move(closer), Desk{std::move(board), settings.timeout});
}

}  // namespace tenure::client

namespace tenure {

std::unique_ptr<Client> Client::connect(const std::string& address, const ClientSettings& settings) {
  for (const std::string& one : settings.others) {
    if (const auto where = client::read_address(one); !where) raise(where.error());
  }
  if (const auto where = client::read_address(address); !where) raise(where.error());
  std::unique_ptr<client::Dialer> dialer = client::make_tcp_dialer();
  if (settings.tls) {
    auto tls = client::make_tls_dialer(real_files(), *settings.tls, std::move(dialer));
    if (!tls) raise(tls.error());
    dialer = std::move(*tls);
  }
  auto made = client::make_client(address, settings, std::move(dialer));
  static_cast<void>(made->now());  // answered only to those who may ask
  return made;
}

}  // namespace tenure

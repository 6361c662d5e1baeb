#include "cable.h"

#include <algorithm>
#include <utility>

#include "wire/replies.h"
#include "wire/resp_parser.h"
#include "wire/resp_writer.h"
#include "wire/server_replies.h"
#include "wire/verbs.h"

namespace tenure::sim {
namespace {

Failure broken(const char* how) { return {.code = ErrorCode::kUnavailable, .message = how}; }

}  // namespace

// One connection, both ends of it. One thread.
class Cable : public std::enable_shared_from_this<Cable> {
 public:
  Cable(Cables& all, std::string who, std::string address, Cables::Wake wake)
      : all_(all),
        who_(std::move(who)),
        address_(std::move(address)),
        wake_(std::move(wake)),
        number_(++all.ports_.connections) {}

  // --- the program's end ---
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] int descriptor() const { return static_cast<int>(number_); }

  void connect() {
    if (all_.breaks()) return;  // nobody will ever answer
    after(all_.delay(), [this] {
      if (is_over_) return;
      is_connected_ = all_.ports_.service.is_up_at(address_);
      if (!is_connected_) all_.ports_.tally.count(Fault::kConnectionRefused);
      is_over_ = !is_connected_;
      wake_(descriptor());
    });
  }
  Result<bool> advance() {
    if (is_over_) return tl::unexpected(broken("the connection is refused"));
    return is_connected_;
  }

  Result<std::size_t> send(std::string_view bytes) {
    if (is_over_) return tl::unexpected(broken("the connection is broken"));
    if (all_.breaks()) cut();
    const bool is_part = !all_.is_calm_ && bytes.size() > 1 && all_.dice_.one_in(12);
    const std::size_t taken = is_part ? 1 + all_.dice_.roll(bytes.size() - 1) : bytes.size();
    to_server_at_ = std::max(to_server_at_, all_.ports_.agenda.now() + all_.delay());
    at(to_server_at_, [this, part = std::string(bytes.substr(0, taken)), floor = all_.ports_.checker.floor()] {
      arrive(part, floor);
    });
    if (is_part) after(Millis{all_.dice_.between(1, 4)}, [this] { wake_(descriptor()); });
    return taken;
  }

  Result<std::size_t> receive(std::string& to) {
    const std::size_t count = inbox_.size();
    to += std::exchange(inbox_, {});
    if (count == 0 && is_over_) return tl::unexpected(broken("the other side has ended it"));
    return count;
  }

  void hang_up() {
    wake_ = [](int /*descriptor*/) {};
    is_over_ = true;
    at(std::max(to_server_at_, all_.ports_.agenda.now() + all_.delay()), [this] { tell_server(); });
  }

  // --- what goes wrong ---
  void cut() {
    if (is_broken_) return;
    is_broken_ = true;
    all_.ports_.tally.count(Fault::kConnectionCut);
    all_.ports_.story.tell("connection {} of {} is cut", number_, who_);
    after(all_.notice(), [this] { tell_server(); });
    after(all_.notice(), [this] { end(); });
  }

  // The server has ended. What it had said may still come.
  void end_server(bool is_power_lost) {
    is_server_gone_ = true;
    if (is_broken_) return;
    if (is_power_lost && !all_.is_calm_) {
      is_broken_ = true;
      return after(all_.notice(), [this] { end(); });
    }
    at(std::max(to_program_at_, all_.ports_.agenda.now() + all_.delay()), [this] { end(); });
  }

 private:
  template <class Event>
  void at(Millis when, Event event) {
    all_.ports_.agenda.at(when, [self = shared_from_this(), event = std::move(event)]() mutable { event(); });
  }
  template <class Event>
  void after(Millis delay, Event event) {
    at(all_.ports_.agenda.now() + delay, std::move(event));
  }

  void end() {
    is_over_ = true;
    wake_(descriptor());
  }
  void tell_server() {
    if (!std::exchange(is_server_gone_, true)) all_.ports_.service.hang_up(number_);
  }

  // --- the server's end ---
  void arrive(const std::string& bytes, std::uint64_t floor) {
    if (is_broken_ || is_server_gone_) return;
    input_ += bytes;
    floor_ = floor;
    go_on();
  }

  // One request after the other, so that answers keep their order.
  void go_on() {
    while (!is_busy_ && !is_server_gone_) {
      const auto step = parser_.next(input_);
      if (step.outcome == wire::RespParser::Outcome::kNeedMore) {
        input_.erase(0, step.consumed);
        return;
      }
      require(step.outcome == wire::RespParser::Outcome::kRequest, "{} does not speak the protocol", who_);
      auto letter = std::make_shared<Letter>();
      letter->texts = std::make_shared<Texts>();
      std::vector<std::string_view> words;
      for (const std::string_view word : step.words) words.push_back(letter->texts->keep(std::string(word)));
      input_.erase(0, step.consumed);
      begin(std::move(letter), words);
    }
  }

  void begin(std::shared_ptr<Letter> letter, const std::vector<std::string_view>& words) {
    const auto verb = wire::find_verb(words);
    require(verb.has_value(), "{} asks what is no verb: {}", who_, words.front());
    wire::Request request;
    const auto fault = wire::read_request(**verb, words, Settings().payload_bytes_max, request);
    require(!fault, "{} asks what cannot be read: {}", who_, fault ? fault->message : "");
    std::visit([&](const auto& asked) { serve(letter, asked); }, request);
  }

  template <class R>
  void serve(const std::shared_ptr<Letter>& letter, const R& request) {
    if constexpr (std::is_same_v<R, wire::Hello>) {
      std::string bytes;
      wire::RespWriter out(bytes, wire::Protocol::kResp3);
      wire::write_greeting(out, number_);
      out.finish();
      say(std::move(bytes));
    } else if constexpr (wire::BookRequest<R> && !std::is_same_v<R, ListWorkers>) {
      letter->request = wire::engine_request(request);
      if constexpr (requires { request.block; }) letter->block = request.block;
      letter->call = all_.ports_.checker.calls().arrive(who_, letter->request);
      is_busy_ = true;
      all_.ports_.service.hear({.connection = number_,
                                .letter = letter,
                                .floor = floor_,
                                .reply_to = [self = shared_from_this(),
                                             call = letter->call](const Reply& reply) { self->answer(call, reply); },
                                .is_wired = true,
                                .to = address_});
    } else {
      throw Breach(fmt::format("{} asks what is not simulated", who_));
    }
  }

  // From within the engine: what comes next is begun later.
  void answer(CallLaw::Number call, const Reply& reply) {
    const Failure* const failure = failure_in(reply);
    if (failure != nullptr && failure->code == ErrorCode::kMoved) all_.ports_.checker.calls().send_on(call);
    std::string bytes;
    wire::RespWriter out(bytes, wire::Protocol::kResp3);
    std::visit([&](const auto& any) { wire::write_result(out, any); }, reply);
    out.finish();
    if (all_.breaks()) cut();
    say(std::move(bytes));
    after(Millis{0}, [this] {
      is_busy_ = false;
      go_on();
    });
  }

  void say(std::string bytes) {
    to_program_at_ = std::max(to_program_at_, all_.ports_.agenda.now() + all_.delay());
    at(to_program_at_, [this, bytes = std::move(bytes)] {
      if (is_broken_ || is_over_) return;
      inbox_ += bytes;
      wake_(descriptor());
    });
  }

  Cables& all_;
  const std::string who_;
  const std::string address_;
  Cables::Wake wake_;
  const std::uint64_t number_;
  bool is_broken_ = false;  // nothing passes any more

  bool is_connected_ = false;
  bool is_over_ = false;  // as the program sees it
  std::string inbox_;
  Millis to_server_at_{0};  // arrival of all that was sent

  bool is_server_gone_ = false;  // the server's end, from either side
  bool is_busy_ = false;
  wire::RespParser parser_;
  std::string input_;
  std::uint64_t floor_ = 0;
  Millis to_program_at_{0};
};

namespace {

// The program's end.
class CableStream final : public client::Stream {
 public:
  explicit CableStream(std::shared_ptr<Cable> cable) : cable_(std::move(cable)) { cable_->connect(); }
  ~CableStream() override { cable_->hang_up(); }

  [[nodiscard]] int descriptor() const override { return cable_->descriptor(); }
  // The cable wakes its program whenever something can go on.
  [[nodiscard]] bool wants_to_write() const override { return false; }
  Result<bool> advance() override { return cable_->advance(); }
  Result<std::size_t> send(std::string_view bytes) override { return cable_->send(bytes); }
  Result<std::size_t> receive(std::string& to) override { return cable_->receive(to); }

 private:
  const std::shared_ptr<Cable> cable_;
};

}  // namespace

std::unique_ptr<client::Stream> Cables::dial(const std::string& who, const std::string& address, Wake wake) {
  std::erase_if(cables_, [](const auto& cable) { return cable.expired(); });
  auto cable = std::make_shared<Cable>(*this, who, address, std::move(wake));
  cables_.push_back(cable);
  return std::make_unique<CableStream>(std::move(cable));
}

void Cables::cut_one() {
  if (cables_.empty()) return;
  if (const auto cable = dice_.pick(cables_).lock()) cable->cut();
}

void Cables::end_all(const std::string& address, bool is_power_lost) {
  for (const auto& weak : cables_) {
    if (const auto cable = weak.lock(); cable && cable->address() == address) cable->end_server(is_power_lost);
  }
}

Millis Cables::delay() {
  if (is_calm_) return Millis{1};
  if (!dice_.one_in(20)) return Millis{dice_.between(0, 3)};
  ports_.tally.count(Fault::kMessageDelayed);
  return Millis{dice_.between(20, 600)};
}

Millis Cables::notice() {
  if (is_calm_ || !dice_.one_in(3)) return Millis{dice_.between(0, 5)};
  ports_.tally.count(Fault::kConnectionSilent);
  return Millis{dice_.between(300, 3000)};
}

}  // namespace tenure::sim

#include "caller.h"

namespace tenure::sim {
namespace {

constexpr Millis kPatience{400};  // until a request is sent again
constexpr int kTries = 3;

}  // namespace

Caller::Caller(std::string name, Ports ports, std::uint64_t seed)
    : name_(std::move(name)), ports_(ports), dice_(seed), lives_(ports.agenda) {}

void Caller::begin() {
  lives_.begin();
  connection_ = ++ports_.connections;
  plan_act(Millis{dice_.between(0, 50)});
}

void Caller::plan_act(Millis delay) {
  plan(delay, [this] {
    act();
    plan_act(pace() * ports_.slowness);
  });
}

void Caller::crash() {
  if (is_retired_) return;
  ports_.tally.count(Fault::kCallerCrashed);
  ports_.story.tell("{} crashes", name_);
  lives_.begin();
  lives_.wake();
  forget();
  ports_.agenda.after(Millis{dice_.one_in(4) ? dice_.between(300, 1500) : dice_.between(0, 20)},
                      [this, connection = connection_] { ports_.service.hang_up(connection); });
  plan(Millis{dice_.between(10, 800)}, [this] { begin(); });
}

void Caller::stall(Millis time) {
  if (is_retired_) return;
  ports_.tally.count(Fault::kCallerStalled);
  ports_.story.tell("{} stalls for {} ms", name_, time.count());
  lives_.stand_still(time);
}

void Caller::retire() {
  is_retired_ = true;
  lives_.begin();
  forget();
  ports_.agenda.after(Millis{1}, [this] { ports_.service.hang_up(connection_); });
}

void Caller::send(Letter letter, OnReply on_reply) {
  const auto is_answered = std::make_shared<bool>(false);
  auto reply_to = [this, life = life(), is_answered, on_reply = std::move(on_reply)](const Reply& reply) {
    // One that is stalled hears it when it wakes.
    const auto hear = [this, life, is_answered, on_reply, reply] {
      if (life != lives_.life() || std::exchange(*is_answered, true)) return;
      if (ports_.story.is_heard()) ports_.story.tell("{} hears {}", name_, text_of(reply));
      on_reply(reply);
    };
    lives_.is_still() ? ports_.agenda.after(lives_.still_for(), hear) : hear();
  };
  transmit({.connection = connection_,
            .letter = std::make_shared<const Letter>(std::move(letter)),
            .floor = ports_.checker.floor(),
            .reply_to = std::move(reply_to)},
           is_answered, kTries);
}

void Caller::transmit(const Mail& mail, const std::shared_ptr<bool>& is_answered, int tries) {
  if (ports_.story.is_heard()) ports_.story.tell("{} asks {}", name_, text_of(mail.letter->request));
  ports_.network.carry([this, mail] { ports_.service.hear(mail); });
  if (tries <= 1) return;
  plan(kPatience + mail.letter->block, [this, mail, is_answered, tries] {
    if (*is_answered) return;
    ports_.tally.count(Fault::kRequestRepeated);
    transmit(mail, is_answered, tries - 1);
  });
}

Millis Caller::some_lease() {
  const Millis lease{dice_.between(100, 1500)};
  return ports_.slowness > 1 && dice_.one_in(2) ? lease * ports_.slowness : lease;
}

std::string Caller::new_request_id() { return fmt::format("{}-{}-{}", name_, life(), ++requests_); }

Claim Caller::take(std::vector<Claim>& claims) {
  if (claims.empty()) return {"none", Token{Fence{1}, 1}.text()};
  const auto at = claims.begin() + static_cast<std::ptrdiff_t>(dice_.roll(claims.size()));
  Claim claim = std::move(*at);
  claims.erase(at);
  return claim;
}

std::string Caller::wrong_token(const Claim& claim) {
  ports_.tally.count(Fault::kWrongToken);
  if (dice_.one_in(4)) return "no-token";
  auto token = Token::parse(claim.token).value_or(Token{Fence{1}, 1});
  dice_.one_in(2) ? ++token.secret : ++token.fence.value;
  return token.text();
}

}  // namespace tenure::sim

// How a program asks: the request becomes a call of the library's, and goes on one of its lines.
#pragma once

#include "client/asking.h"
#include "program.h"
#include "wire/request_writer.h"

namespace tenure::sim {

inline constexpr Millis kTimeout{600};  // of a call

template <class R, class Then>
void Program::send(CallLaw::Number call, const R& request, Then then, Millis block) {
  using Answered = wire::BookReply<R>;
  const Request asked = wire::engine_request(request);
  ports_.checker.calls().ask(call, process(), asked);
  if (ports_.story.is_heard()) ports_.story.tell("{} asks {}", name_, text_of(asked));
  auto sent = std::make_shared<client::Call>();
  sent->repeat = client::kRepeat<R>;
  sent->deadline = now() + block + kTimeout;
  if constexpr (requires { wire::write_waiting(request); }) {
    if (block > Millis{0}) {
      sent->bytes = wire::write_waiting(request);
      sent->wait_until = now() + block;
      sent->has_request_id = true;
      waits_.push_back(sent);
    }
  }
  if (!sent->wait_until) sent->bytes = wire::write_request(request);
  // On a line's way: what follows is done when that has come to its end.
  sent->done = [this, call, then = std::move(then)](client::Answer answer) mutable {
    errands_.emplace_back([this, call, answer = std::move(answer), then = std::move(then)]() mutable {
      note_answer(call, answer);
      auto reply = client::read_answer<Answered>(answer);
      if (ports_.story.is_heard())
        ports_.story.tell("{} hears {}", name_, text_of(Reply(std::in_place_type<Result<Answered>>, reply)));
      then(reply, answer.is_repeated);
    });
  };
  const bool has_own_line = sent->wait_until.has_value();
  put(std::move(sent), has_own_line);
}

}  // namespace tenure::sim

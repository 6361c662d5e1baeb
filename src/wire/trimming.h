// A long trim goes in steps.
#pragma once

#include <string>
#include <utility>

#include "authority/engine.h"

namespace tenure::wire {

// Asks for the next step until the last is done, which answer(result) is given; or the failure.
template <class Answer>
struct Trimming {
  Engine& engine;
  std::string domain;
  Offset below;
  Answer answer;

  void operator()(const Result<Trimmed>& step) {
    if (!step || step->complete) return answer(step);
    const std::string name = domain;  // this moves
    engine.ask(WorkTrim{name, below}, std::move(*this));
  }
};
template <class Answer>
Trimming(Engine&, std::string, Offset, Answer) -> Trimming<Answer>;

}  // namespace tenure::wire

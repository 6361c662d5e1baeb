// What a request should be answered: the decision made once more, on the state that the durable frames add up to.
#pragma once

#include <string>

#include "evidence.h"

namespace tenure::sim {

struct Expectation {
  Reply reply;
  std::string records;  // encoded; empty: nothing changes
};

// Makes delayed tasks of the queues that the request looks at ready, as the authority does before it decides.
void prepare(State& state, const Request& request, Instant now);

// `moment` is that of the decision.
Expectation expect(const State& state, const Case& of, const Settings& settings, const Moment& moment);

}  // namespace tenure::sim

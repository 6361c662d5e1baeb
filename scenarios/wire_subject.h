// The same world behind the server: whatever the protocol has a command for goes through a socket, as a client's would;
// time, durability and what is behind the answers are the engine subject's.
//
// Everything is on one thread: what is sent over the loopback is there at once, and the server is asked to go on until
// it has nothing more to do.
#pragma once

#include <memory>

#include "subject.h"

namespace tenure::scenario {

std::unique_ptr<Subject> make_wire_subject();

}  // namespace tenure::scenario

// The thread of a client: it has the sockets and the time, and lets the cluster know of both.
#pragma once

#include <memory>

#include <tenure/hazelcast.h>
#include "base/result.h"
#include "hazelcast/cluster.h"

namespace tenure::hazelcast {

// Thread-safe.
class Loop {
 public:
  // Throws InvalidRequest for settings that cannot be.
  explicit Loop(const Settings& settings);
  // Ends the calls that are on their way.
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Until there is a member to ask; fails if there is none in time, or if it does not want us.
  Result<Done> await_up(Millis timeout);
  // `done` is called on the loop's thread.
  void invoke(std::shared_ptr<Call> call);
  // By the clock that calls' times are of.
  [[nodiscard]] Millis now() const;
  // The client's id at the members.
  [[nodiscard]] Uuid client() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tenure::hazelcast

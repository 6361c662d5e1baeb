// What a server that is one of several has in etcd: the journal, and its place in the election.
#pragma once

#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/result.h"
#include "etcd/open.h"
#include "journal/shared_journal.h"
#include "server/config.h"
#include "server/node.h"

namespace tenure::server {

// One thread, but for `is_certain`. Outlives the journal, which somebody else owns.
class Cluster {
 public:
  // Connects to nobody yet.
  static Result<std::unique_ptr<Cluster>> open(const Config& config, const NodeAddress& self);

  [[nodiscard]] std::unique_ptr<SharedJournal> take_journal() { return std::move(parts_.journal); }
  [[nodiscard]] Election& election() const { return *parts_.election; }
  // Nobody else leads by now, if this node does.
  [[nodiscard]] bool is_certain() const { return clock_.boot() < parts_.election->certain_until(); }

 private:
  Cluster() = default;

  SystemClock clock_;
  SystemEntropy entropy_;
  etcd::Cluster parts_;
};

}  // namespace tenure::server

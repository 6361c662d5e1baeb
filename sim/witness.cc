#include "witness.h"

#include "breach.h"

namespace tenure::sim {

Witness::Witness(Agenda& agenda, Tally& tally, EtcdMembers& members, const MachineClock& clock)
    : ForwardingJournal(journal_),
      members_(members),
      lives_(agenda),
      store_({.agenda = agenda, .tally = tally, .members = members, .clock = clock, .lives = lives_}, 0,
             SimStore::For::kWitness),
      journal_(store_, cluster_keys(), entropy_, {}) {}

void Witness::look() {
  if (members_.revision() == looked_at_) return;
  looked_at_ = members_.revision();
  const auto read = journal_.read({.after = last_}, [this](const Frame& frame) -> Result<Done> {
    require(frame.sequence == last_ + 1, "frame {} follows frame {} in etcd", frame.sequence, last_);
    last_ = frame.sequence;
    seen_.push_back({frame.sequence, frame.stamp, std::string(frame.payload)});
    return Done{};
  });
  require(read.has_value(), "what lies in etcd cannot be read: {}", read ? "" : read.error().message);
}

Result<Done> Witness::read(FrameRange range, Visit visit) const {
  while (!seen_.empty() && seen_.front().sequence <= range.upto) {
    const Seen frame = std::move(seen_.front());
    seen_.pop_front();
    if (frame.sequence <= range.after) continue;
    if (auto visited = visit({frame.sequence, frame.stamp, frame.payload}); !visited) return visited;
  }
  return Done{};
}

}  // namespace tenure::sim

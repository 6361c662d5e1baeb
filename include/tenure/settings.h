// What an authority may be told. Every limit is an answer when it is reached, never a crash.
#pragma once

#include <cstdint>

#include <tenure/types.h>

namespace tenure {

struct Settings {
  // Work leases: failures of one offset before it is given up.
  std::uint32_t work_retries_max = 3;

  // How long, how many and how much of what has ended is remembered by each book: tasks, answers to request ids, lost
  // lock leases. The oldest go first; of many, up to a 128th more may be kept for a while, to be forgotten together.
  Millis retention_time = std::chrono::hours(1);
  std::uint64_t retention_count = 1'000'000;
  std::uint64_t retention_bytes = std::uint64_t{256} << 20;

  std::uint64_t payload_bytes_max = std::uint64_t{1} << 20;  // of a payload, and of a result
  std::uint64_t backlog_max = 1'000'000;                     // offsets waiting in one domain
  std::uint64_t intervals_max = 1'000'000;                   // of done offsets in one domain
  std::uint64_t domains_max = 10'000'000;
  std::uint32_t holds_max = 1'000'000;  // of one lock by re-entry
  std::uint64_t waiters_max = 10'000;   // blocked requests for one name
  // Memory of all books together; beyond it new work is refused, while completing, failing and releasing always work.
  std::uint64_t state_bytes_max = std::uint64_t{8} << 30;
};

}  // namespace tenure

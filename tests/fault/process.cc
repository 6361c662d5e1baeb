#include "process.h"

#include <algorithm>
#include <cstdlib>
#include <malloc.h>
#include <optional>

#include "authority/snapshots.h"
#include "base/bytes.h"

namespace tenure {
namespace {

// Small, so that forgetting is a part of what happens.
Settings small_settings() {
  Settings settings;
  settings.work_retries_max = 1;
  settings.retention_time = std::chrono::seconds(20);
  settings.retention_count = 12;
  return settings;
}

// Thousands of starts, each with large buffers: getting them from the system anew took half of the time.
void keep_memory() {
  mallopt(M_MMAP_THRESHOLD, 64 << 20);  // NOLINT(concurrency-mt-unsafe)
  mallopt(M_TRIM_THRESHOLD, 64 << 20);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

bool in_soak() {
  const char* const value = std::getenv("TENURE_SOAK");  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr && std::string_view(value) == "1";
}

// --- promises ---

void Promises::note_state(std::uint64_t sequence, const State& state) {
  digests_.resize(std::max<std::size_t>(digests_.size(), sequence), digests_.back());
  if (digests_.size() == sequence) digests_.emplace_back();
  digests_[sequence] = state.digest();
}

Digest Promises::digest_after(std::uint64_t sequence) const {
  return digests_[std::min<std::size_t>(sequence, digests_.size() - 1)];
}

// --- a process ---

Process::Process(FaultyFiles& files, Instant at, std::uint64_t seed) : files_(files), clock_(at), entropy_(seed) {
  keep_memory();
  auto opened = FileJournal::open(files, kFolder, entropy_,
                                  {.segment_bytes = kSegmentBytes, .threads = FileJournal::Threads::kNone});
  if (!opened) {
    refusal_ = opened.error().message;
    return;
  }
  journal_ = std::move(*opened);
  noting_ = std::make_unique<NotingJournal>(*journal_);
  auto started = Engine::start(small_settings(), {clock_, entropy_, *noting_});
  if (!started) {
    refusal_ = started.error().message;
    return;
  }
  engine_ = std::move(*started);
  recovered_ = noting_->last();
  engine_->inspect([&](const State& state) { promises_.note_state(recovered_, state); });
  segments_ = 1;
  journal_->snapshots()->on_growth([this] { ++segments_; });
  engine_->observe([this](const State& state, Instant /*stamp*/, std::string_view record) {
    record_types_.insert(static_cast<std::uint32_t>(ByteReader(record).varint()));
    promises_.note_state(noting_->last(), state);
  });
}

void Process::flush() {
  engine_->hand_over();
  journal_->step();
}

void Process::vouch() { journal_->vouch(); }

void Process::make_snapshot() {
  std::optional<std::uint64_t> frame;
  engine_->take_digest([&](const Result<std::uint64_t>& taken) {
    if (taken) frame = *taken;
  });
  flush();
  if (!frame) return;
  const std::uint64_t before = files_.operations();
  if (tenure::make_snapshot(*noting_, *frame)) ++snapshots_;
  snapshot_operations_ += files_.operations() - before;
}

void Process::pass(Millis by) {
  clock_.advance(by);
  while (!has_failed_ && engine_->run_due() <= now()) {
  }
}

bool Process::close() {
  engine_->close();
  engine_->take_digest();
  return journal_->close().has_value();
}

std::uint64_t Process::count_of(ErrorCode code) const {
  return static_cast<std::uint64_t>(std::ranges::count(errors_, code));
}

Digest Process::digest() const {
  return engine_->inspect([](const State& state) { return state.digest(); });
}

Fence Process::fence() const {
  return engine_->inspect([](const State& state) { return state.fence(); });
}

void Process::note_answer(std::size_t number, const Failure* failure) {
  ++answered_;
  if (failure != nullptr) errors_.push_back(failure->code);
  if (failure != nullptr && failure->code == ErrorCode::kUnavailable) {
    has_failed_ = true;
  } else if (has_failed_) {
    ++answers_after_failure_;
  } else {
    promises_.note_answer(rests_on_[number]);
  }
}

}  // namespace tenure

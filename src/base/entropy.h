// The only way to randomness. entropy.cc is the one file that asks the system for it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace tenure {

// One thread.
class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual std::uint64_t next() = 0;

  // As next, but drawn one ahead: coming() is what it will answer the next time, once it has answered.
  virtual std::uint64_t next_ahead();
  [[nodiscard]] std::uint64_t coming() const { return coming_.value_or(0); }

 private:
  std::optional<std::uint64_t> coming_;
};

// Unguessable bits from the system, fetched in blocks: one getrandom call a token would cost more than the decision.
class SystemEntropy final : public Entropy {
 public:
  std::uint64_t next() override;

 private:
  std::array<std::uint64_t, 256> block_{};
  std::size_t left_ = 0;
};

// The same numbers for the same seed (splitmix64): for tests, simulation and the demo.
class SeededEntropy final : public Entropy {
 public:
  explicit SeededEntropy(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override;

 private:
  std::uint64_t state_;
};

}  // namespace tenure

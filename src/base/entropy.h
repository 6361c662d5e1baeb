// The only way to randomness. entropy.cc is the one file that asks the system for it.
#pragma once

#include <array>
#include <cstdint>

namespace tenure {

// One thread.
class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual std::uint64_t next() = 0;
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

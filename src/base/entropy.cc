#include "base/entropy.h"

#include <cerrno>
#include <sys/random.h>

#include "base/check.h"

namespace tenure {

std::uint64_t Entropy::next_ahead() {
  const std::uint64_t number = coming_ ? *coming_ : next();
  coming_ = next();
  return number;
}

std::uint64_t SystemEntropy::next() {
  if (left_ == 0) {
    // getrandom gives up to 256 bytes whole; longer requests may be cut short by a signal.
    auto* to = reinterpret_cast<unsigned char*>(block_.data());
    for (std::size_t done = 0; done < sizeof block_;) {
      const auto got = getrandom(to + done, sizeof block_ - done, 0);
      TENURE_CHECK(got > 0 || errno == EINTR, "getrandom failed, errno {}", errno);
      if (got > 0) done += static_cast<std::size_t>(got);
    }
    left_ = block_.size();
  }
  return block_[--left_];
}

std::uint64_t SeededEntropy::next() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
  return mixed ^ (mixed >> 31);
}

}  // namespace tenure

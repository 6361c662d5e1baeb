// What is told of locks by domain: attempts to take them and how long those took, how long locks were held, how many
// ran out, how many are held now.
//
// Domains are as many as clients like, and whoever keeps these numbers keeps each for years: the first domains that are
// seen have numbers of their own, all others have theirs together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/btree_map.h>

#include "authority/figures.h"
#include "base/histogram.h"
#include "wire/claim.h"

namespace tenure::server {

// Queues and domains that are told of by name.
inline constexpr std::size_t kNamesShown = 50;
// Where those stand together that are not; one that is called so is among them.
inline constexpr std::string_view kOthers = "(other)";

inline constexpr std::array<std::string_view, 4> kOutcomes = {"acquired", "timeout", "interrupted", "error"};

struct DomainFigures {
  static constexpr double kSecondsBounds[] = {0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 3600};

  std::string domain;
  std::array<std::optional<Histogram>, kOutcomes.size()> attempts;  // seconds, by outcome; absent: none
  Histogram held_seconds{kSecondsBounds};
  std::uint64_t expired = 0;
  std::uint64_t active = 0;
};

// One thread: the loop's, on which everything is asked of the engine.
class LockFigures final : public LockWatch {
 public:
  void on_held(std::string_view domain) override;
  void on_freed(std::string_view domain, Millis held, bool has_expired) override;
  void on_attempt(const wire::LockAttempt& attempt);

  // Whatever is held is told again.
  void begin_anew();
  // In the order they were seen.
  [[nodiscard]] std::vector<DomainFigures> by_domain() const;

 private:
  // A name that is not known yet gets numbers of its own, while there are some left.
  DomainFigures& of(std::string_view domain, bool may_be_new);

  absl::btree_map<std::string, std::size_t, std::less<>> places_;
  std::vector<DomainFigures> domains_;
  std::size_t last_ = 0;  // that was told of
  std::optional<DomainFigures> others_;
};

}  // namespace tenure::server

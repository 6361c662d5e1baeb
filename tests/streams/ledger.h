// What consumers write to, and what must be true of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <tenure/fence_guard.h>
#include <tenure/types.h>

namespace tenure::testing {

struct Booking {
  std::string domain;
  Offset offset;
  Fence fence;
  std::string payload;
};

// A pipe that holds few lines: who writes faster than it is read has to wait. One thread.
class Ledger {
 public:
  Ledger();
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  [[nodiscard]] int pen() const { return pen_; }
  // Waits for one. nullopt: nothing came for so long.
  std::optional<Booking> next(Millis patience);

 private:
  int page_ = -1;
  int pen_ = -1;
  std::string text_;
};

// Enters bookings, each domain's in order, and refuses those of older fences; whatever else is wrong throws. One
// thread.
class Books {
 public:
  explicit Books(Offset first) : first_(first) {}

  void enter(const Booking& booking);
  // How many of a domain's are entered.
  [[nodiscard]] std::int64_t entered(const std::string& domain) const;
  // Of how many holders.
  [[nodiscard]] std::size_t holders(const std::string& domain) const;
  [[nodiscard]] int refused() const { return refused_; }
  [[nodiscard]] int repeated() const { return repeated_; }

 private:
  struct Page {
    Offset next;
    Fence fence;  // of the last
    std::set<Fence> fences{};
  };

  const Offset first_;
  FenceGuard guard_;
  std::map<std::string, Page> pages_;
  int refused_ = 0;
  int repeated_ = 0;
};

}  // namespace tenure::testing

// Requests that wait for something to become free, first come, first served. Soft state: a restart forgets them, and
// their callers ask again.
//
// Each waits in one place, under one or more names (queues, a lock, a task). Its ticket is its caller's; a repeated
// request takes over the place under a new ticket.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include <tenure/types.h>

namespace tenure {

// Wish is what the one who waits wants: the request, owned (with names() and request_id), and whom to answer. One
// thread.
template <class Wish>
class Waiters {
 public:
  struct Waiter {
    std::uint64_t ticket;
    Instant deadline;
    std::vector<std::string> names;
    Wish wish;
    std::uint64_t place = 0;  // in the line: who came first has the lowest
  };

  [[nodiscard]] bool empty() const { return waiters_.empty(); }
  [[nodiscard]] std::uint64_t size() const { return waiters_.size(); }

  [[nodiscard]] std::uint64_t count(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? 0 : found->second.size();
  }

  void add(Waiter waiter) { insert(++places_, std::move(waiter)); }

  // The one that has waited longest under the name; null when none does.
  [[nodiscard]] const Waiter* first(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? nullptr : &waiters_.at(*found->second.begin());
  }

  // The one that came last; there must be one.
  [[nodiscard]] const Waiter* last(std::string_view name) const {
    return &waiters_.at(*names_.find(name)->second.rbegin());
  }

  // The one that waits with this request id; null when none does.
  [[nodiscard]] const Waiter* find_request(std::string_view request_id) const {
    const auto found = requests_.find(request_id);
    return found == requests_.end() ? nullptr : &waiters_.at(found->second);
  }

  // Puts the waiter into the place of the one with its request id, which is given back.
  Waiter take_over(Waiter waiter) {
    const std::uint64_t place = requests_.find(*waiter.wish.request_id)->second;
    Waiter older = remove_place(place);
    insert(place, std::move(waiter));
    return older;
  }

  // nullopt: it has been answered already.
  std::optional<Waiter> remove(std::uint64_t ticket) {
    const auto found = tickets_.find(ticket);
    if (found == tickets_.end()) return std::nullopt;
    return remove_place(found->second);
  }

  [[nodiscard]] Instant next_deadline() const {
    return deadlines_.empty() ? kNever : Instant{deadlines_.begin()->first};
  }

  // One whose time has passed, removed; nullopt when there is none.
  std::optional<Waiter> remove_due(Instant now) {
    if (now < next_deadline()) return std::nullopt;
    return remove_place(deadlines_.begin()->second);
  }

  // Any, removed; nullopt when none is left.
  std::optional<Waiter> remove_any() {
    if (empty()) return std::nullopt;
    return remove_place(waiters_.begin()->first);
  }

 private:
  void insert(std::uint64_t place, Waiter waiter) {
    for (const std::string& name : waiter.names) names_[name].insert(place);
    if (waiter.wish.request_id) requests_[*waiter.wish.request_id] = place;
    tickets_[waiter.ticket] = place;
    deadlines_.insert({waiter.deadline.ms, place});
    waiter.place = place;
    waiters_.emplace(place, std::move(waiter));
  }

  Waiter remove_place(std::uint64_t place) {
    const auto found = waiters_.find(place);
    Waiter waiter = std::move(found->second);
    waiters_.erase(found);
    for (const std::string& name : waiter.names) {
      const auto under = names_.find(name);
      if (under == names_.end()) continue;  // a name given twice
      under->second.erase(place);
      if (under->second.empty()) names_.erase(under);
    }
    if (waiter.wish.request_id) requests_.erase(*waiter.wish.request_id);
    tickets_.erase(waiter.ticket);
    deadlines_.erase({waiter.deadline.ms, place});
    return waiter;
  }

  absl::btree_map<std::uint64_t, Waiter> waiters_;  // by place
  absl::btree_map<std::string, absl::btree_set<std::uint64_t>, std::less<>> names_;
  absl::btree_map<std::string, std::uint64_t, std::less<>> requests_;
  absl::btree_map<std::uint64_t, std::uint64_t> tickets_;
  absl::btree_set<std::pair<std::int64_t, std::uint64_t>> deadlines_;
  std::uint64_t places_ = 0;
};

}  // namespace tenure

#include "books_text.h"

#include <algorithm>
#include <map>
#include <type_traits>

#include <fmt/format.h>

namespace tenure::scenario {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return "[" + text + "]";
}

std::string intervals(const IntervalSet& set) {
  std::vector<std::string> parts;
  for (const auto& [first, last] : set.map()) {
    parts.push_back(first == last ? std::to_string(first) : fmt::format("{}..{}", first, last));
  }
  return joined(parts);
}

std::string backlog(const Domain& domain) {
  std::vector<std::string> parts;
  for (std::uint64_t i = 0; domain.has_backlog() && i < domain.backlog->size(); ++i) {
    parts.push_back(std::to_string(domain.backlog->at(domain.backlog->head_place() + i).value));
  }
  return joined(parts);
}

// The three lines of unhappy-path.
Portrait portrait(const Task& task) {
  const TaskStatus status = TaskBook::status(task);
  return {fmt::format("Task {}", task.id()),
          {fmt::format("state = {}", to_string(status.state)), fmt::format("attempt = {}", status.attempt),
           fmt::format("current_lease = {}", status.lease_id.value_or("null"))}};
}

Portrait portrait(const Domain& domain) {
  Portrait shown{fmt::format("Domain {}", domain.name), {}};
  if (domain.hold) {
    shown.lines.push_back(fmt::format("in flight = {} ({}, retry_count {})", domain.hold->offset.value,
                                      domain.hold->token.text(), domain.hold->retry_count));
  } else {
    shown.lines.emplace_back("in flight = null");
  }
  shown.lines.push_back("backlog = " + backlog(domain));
  shown.lines.push_back("processed = " + intervals(domain.processed));
  shown.lines.push_back("failed = " + intervals(domain.failed));
  if (domain.trimmed_below > Offset{0}) {
    shown.lines.push_back(fmt::format("trimmed below = {}", domain.trimmed_below.value));
  }
  return shown;
}

Portrait portrait(const Lock& lock) {
  const std::string space = lock.space() == kDefaultSpace ? "" : fmt::format("{} ", lock.space());
  return {fmt::format("Lock {}{}::{}", space, lock.domain(), lock.identifier()),
          {fmt::format("owner = {}", lock.owner()), fmt::format("token = {}", lock.token.text()),
           fmt::format("holds = {}", lock.holds)}};
}

Portrait portrait(const Queue& queue) { return {fmt::format("Queue {}", queue.name), {"paused"}}; }

}  // namespace

std::vector<Portrait> portraits(const State& state) {
  std::map<std::uint64_t, Portrait> tasks;
  std::map<std::string, Portrait> others;
  state.visit_entities([&]<class T>(Entity, const T& entity) {
    if constexpr (std::is_same_v<T, Task>) {
      tasks[entity.number] = portrait(entity);
    } else if constexpr (std::is_same_v<T, Domain> || std::is_same_v<T, Lock> || std::is_same_v<T, Queue>) {
      Portrait shown = portrait(entity);
      others[shown.title] = shown;
    }
  });
  std::vector<Portrait> all;
  all.reserve(tasks.size() + others.size());
  for (auto& [number, shown] : tasks) all.push_back(std::move(shown));
  for (auto& [title, shown] : others) all.push_back(std::move(shown));
  return all;
}

Portrait portrait_of(const State& state, std::string_view name) {
  for (Portrait& shown : portraits(state)) {
    for (const std::string_view kind : {"Task ", "Domain ", "Lock "}) {
      if (shown.title == fmt::format("{}{}", kind, name)) return std::move(shown);
    }
  }
  return {std::string(name), {}};
}

}  // namespace tenure::scenario

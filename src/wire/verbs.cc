#include "wire/verbs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include "base/bytes.h"
#include "base/check.h"
#include "wire/verb_tables.h"
#include "wire/word.h"

namespace tenure::wire {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101;

// Eight bytes at once: each test leaves its answer in the top bit of every byte.
constexpr std::uint64_t to_upper_eight(std::uint64_t eight) {
  const std::uint64_t low = eight & 0x7f * kOnes;
  const std::uint64_t is_a_or_above = low + (0x80 - 'a') * kOnes;
  const std::uint64_t is_above_z = low + (0x7f - 'z') * kOnes;
  return eight ^ ((is_a_or_above & ~is_above_z & ~eight & 0x80 * kOnes) >> 2);
}

// A name in upper case, cut off where it is longer than any verb's, on the stack. One thread.
class UpperName {
 public:
  explicit UpperName(std::string_view text) { append(text); }

  void append(std::string_view text) {
    text = text.substr(0, kBytesMax - size_);
    copy_short(text, text_ + size_);
    size_ += text.size();
    for (char* at = text_; at < text_ + kBytesMax; at += 8) {
      const std::uint64_t eight = to_upper_eight(load<std::uint64_t>(at));
      std::memcpy(at, &eight, sizeof eight);
    }
  }
  [[nodiscard]] std::string_view view() const { return {text_, size_}; }

  friend bool operator==(const UpperName& a, const UpperName& b) {
    return a.size_ == b.size_ && std::memcmp(a.text_, b.text_, kBytesMax) == 0;
  }
  struct Hash {
    std::size_t operator()(const UpperName& name) const {
      std::uint64_t hash = name.size_;
      for (const char* at = name.text_; at < name.text_ + kBytesMax; at += 8) {
        hash = (hash ^ load<std::uint64_t>(at)) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 32;
      }
      return hash;
    }
  };

 private:
  static constexpr std::size_t kBytesMax = 32;

  char text_[kBytesMax] = {};  // zeros behind it
  std::size_t size_ = 0;
};

// Sorted by name: the subcommands of a command stand together.
const std::vector<const Verb*>& sorted_verbs() {
  static const std::vector<const Verb*> sorted = [] {
    std::vector<const Verb*> verbs(all_verbs().begin(), all_verbs().end());
    std::sort(verbs.begin(), verbs.end(), [](const Verb* a, const Verb* b) { return a->name < b->name; });
    return verbs;
  }();
  return sorted;
}

const Verb* find_upper(const UpperName& name) {
  static const auto by_name = [] {
    absl::flat_hash_map<UpperName, const Verb*, UpperName::Hash> verbs;
    for (const Verb* verb : all_verbs()) verbs.emplace(UpperName(verb->name), verb);
    return verbs;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

// The verbs of tasks, work and locks, in upper case, as most clients write them, by both ends of their names.
// Immutable.
class UsualNames {
 public:
  UsualNames() {
    for (const Verb* verb : all_verbs()) {
      if (verb->group != Group::kServer && fits(verb->name)) insert(*verb);
    }
  }

  // Null: it is one of the others, or none.
  [[nodiscard]] const Verb* find(std::string_view name) const {
    if (!fits(name)) return nullptr;
    const Ends ends = ends_of(name);
    for (std::size_t at = place_of(ends);; at = (at + 1) % kPlaces) {
      const Entry& entry = entries_[at];
      if (entry.verb == nullptr || (entry.ends == ends && entry.verb->name.size() == name.size())) return entry.verb;
    }
  }

 private:
  static constexpr std::size_t kPlaces = 256;  // most of them empty
  struct Ends {
    std::uint64_t first;
    std::uint64_t last;
    friend bool operator==(const Ends&, const Ends&) = default;
  };
  struct Entry {
    Ends ends{};
    const Verb* verb = nullptr;
  };

  // Then the ends are all of it.
  static bool fits(std::string_view name) { return name.size() >= 8 && name.size() <= 16; }
  static Ends ends_of(std::string_view name) {
    return {load<std::uint64_t>(&name.front()), load<std::uint64_t>(&name[name.size() - 8])};
  }
  static std::size_t place_of(const Ends& ends) {
    return ((ends.first ^ std::rotl(ends.last, 32)) * 0x9e3779b97f4a7c15) >> 56;
  }
  void insert(const Verb& verb) {
    const Ends ends = ends_of(verb.name);
    std::size_t at = place_of(ends);
    while (entries_[at].verb != nullptr) at = (at + 1) % kPlaces;
    entries_[at] = {ends, &verb};
  }

  std::array<Entry, kPlaces> entries_;
};

// Whether the name, with a blank behind it, is the beginning of a verb's.
bool is_command_of_subcommands(std::string_view name) {
  const auto& verbs = sorted_verbs();
  const auto first = std::lower_bound(verbs.begin(), verbs.end(), name,
                                      [](const Verb* verb, std::string_view wanted) { return verb->name < wanted; });
  return first != verbs.end() && (*first)->name.starts_with(name);
}

std::string subcommands_of(std::string_view prefix) {
  std::string names;
  for (const Verb* verb : sorted_verbs()) {
    if (!verb->name.starts_with(prefix)) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", verb->name.substr(prefix.size()));
  }
  return names;
}

}  // namespace

std::string_view to_string(Group group) {
  constexpr std::string_view kNames[] = {"tasks", "work", "locks", "server"};
  return kNames[static_cast<std::size_t>(group)];
}

std::string_view to_string(Permission permission) {
  constexpr std::string_view kNames[] = {"anyone", "signed in", "read", "submit", "work", "lock", "admin"};
  return kNames[static_cast<std::size_t>(permission)];
}

std::string Verb::usage() const {
  const std::string rest = usage_of(arguments);
  return rest.empty() ? std::string(name) : fmt::format("{} {}", name, rest);
}

std::int64_t Verb::arity() const {
  const auto words = static_cast<std::int64_t>(name_words + words_needed);
  const bool is_exact = std::all_of(arguments.begin(), arguments.end(), [](const Argument& argument) {
    return argument.form == Form::kRequired && traits_of(argument.field).kind != Kind::kQueues;
  });
  return is_exact ? words : -words;
}

absl::Span<const Verb> verbs_of(Group group) {
  switch (group) {
    case Group::kTasks:
      return task_verbs();
    case Group::kWork:
      return work_verbs();
    case Group::kLocks:
      return lock_verbs();
    case Group::kServer:
      return server_verbs();
  }
  TENURE_CHECK(false, "group {}", static_cast<int>(group));
}

absl::Span<const Verb* const> all_verbs() {
  static const std::vector<const Verb*> all = [] {
    std::vector<const Verb*> verbs;
    for (const Group group : {Group::kTasks, Group::kWork, Group::kLocks, Group::kServer}) {
      for (const Verb& verb : verbs_of(group)) verbs.push_back(&verb);
    }
    return verbs;
  }();
  return all;
}

Result<const Verb*> find_verb(Words words) {
  static const UsualNames usual;
  if (const Verb* verb = usual.find(words[0])) return verb;
  UpperName name(words[0]);
  const Verb* verb = find_upper(name);
  // The names of subcommands have a blank, which a word of one's own may have, too.
  if (verb != nullptr && verb->name_words > 1) verb = nullptr;
  // Only the server's verbs have subcommands.
  if (verb != nullptr && (words.size() == 1 || verb->group != Group::kServer)) return verb;
  name.append(" ");
  if (!is_command_of_subcommands(name.view())) {
    if (verb != nullptr) return verb;
    return fail_with(ErrorCode::kErr, "unknown command {}: expected one that COMMAND lists", quote(words[0]));
  }
  const std::string prefix(name.view());
  const std::string_view second = words.size() > 1 ? words[1] : "";
  name.append(second);
  if (const Verb* subcommand = find_upper(name)) return subcommand;
  return fail_with(ErrorCode::kErr, "unknown subcommand of {}: expected {}, found {}", quote(words[0]),
                   subcommands_of(prefix), quote(second));
}

const Verb* find_verb_named(std::string_view name) {
  const std::size_t bar = name.find('|');
  UpperName upper(name.substr(0, bar));
  if (bar != std::string_view::npos) {
    upper.append(" ");
    upper.append(name.substr(bar + 1));
  }
  return find_upper(upper);
}

std::optional<Failure> read_request(const Verb& verb, Words words, std::uint64_t payload_bytes_max, Request& request) {
  Values values;
  ArgumentReader reader(verb.name, verb.arguments, verb.words_needed, words.subspan(verb.name_words),
                        payload_bytes_max);
  if (!reader.read(values)) return reader.fault();
  request = verb.make(values);
  return std::nullopt;
}

}  // namespace tenure::wire

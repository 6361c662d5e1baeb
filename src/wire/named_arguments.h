// Reads a request's arguments by name, as HTTP has them: in the path, as query parameters, or as the members of a JSON
// object. They are the same arguments, of the same table and within the same limits, that commands have as words.
//
// Names are those of fields.h. A backoff has two; a payload, result or reason may stand under `<name>_base64` instead.
// Of several faults the leftmost is told, those of the path first; each names the member, what was expected and what
// was found.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/args.h"
#include "wire/verbs.h"

namespace tenure::wire {

// One value, as it was found.
struct Found {
  enum class Type : std::uint8_t {
    kText,  // of a path or query: whatever it is meant to be
    kString,
    kNumber,  // as it was written
    kBoolean,
    kNull,
    kArray,  // of strings
    kObject,
  };
  Type type = Type::kText;
  std::string text{};
  std::vector<std::string> strings{};
};

// One thread. It owns what it was given; the request that it makes views that.
class NamedArguments {
 public:
  // The verb outlives it; `payload_bytes_max` is the limit of a payload or result.
  NamedArguments(const Verb& verb, std::uint64_t payload_bytes_max)
      : verb_(verb), reader_(Naming::kJson, payload_bytes_max) {}

  // Percent-encoded pairs of name and value, with `&` between.
  std::optional<Failure> take_query(std::string_view query);
  // A JSON object; nothing at all is an empty one.
  std::optional<Failure> take_body(std::string_view body);
  std::optional<Failure> take(std::string_view name, Found found);

  // Why there cannot be an array under this name, or such a thing at all, before it is read.
  [[nodiscard]] std::optional<Failure> fault_in_name(std::string_view name, Found::Type type) const;

  // All was taken: makes the request, or tells what is missing.
  std::optional<Failure> make(Request& request);

 private:
  // What a name means.
  struct Meaning {
    const Argument* argument;
    std::size_t place = 0;  // of a backoff's two
    bool is_base64 = false;
  };
  [[nodiscard]] std::optional<Meaning> meaning_of(std::string_view name) const;
  std::optional<Failure> read(Field field, std::vector<std::string> texts);
  std::optional<Failure> take_backoff(std::string_view name, std::size_t place, std::string text);

  const Verb& verb_;
  const ValueReader reader_;
  Values values_;
  // What `values_` views.
  std::deque<std::vector<std::string>> texts_;
  std::deque<std::vector<std::string_view>> words_;
  std::array<std::optional<std::string>, 2> backoff_;
};

// Whether it may stand in base64 under a second name.
constexpr bool is_bytes(Kind kind) { return kind == Kind::kPayload || kind == Kind::kReason; }
inline constexpr std::string_view kBase64Suffix = "_base64";

// Each %HH as the byte it stands for; in a query, `+` is a blank. Fails on anything else behind a `%`.
enum class Encoded : std::uint8_t { kPath, kQuery };
Result<std::string> percent_decoded(std::string_view text, Encoded where);

}  // namespace tenure::wire

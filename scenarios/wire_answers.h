// Commands of scripts as requests of the protocol, and its replies as answers of scripts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "subject.h"
#include "wire/resp_reply.h"

namespace tenure::scenario {

// How a verb of scripts is asked and answered on the wire. Immutable.
struct WireVerb {
  enum class Form : std::uint8_t {
    kWords,      // words and numbers, shown one behind the other
    kFields,     // an array: each value under its name
    kMap,        // one map, or nil
    kMaps,       // an array of maps
    kPage,       // cursor, array of maps
    kValues,     // cursor, array of plain values
    kIntervals,  // cursor, array of first, last
  };

  std::string_view verb;  // in scripts
  std::string_view name;  // on the wire
  Form form = Form::kWords;
  // Of a map: what is shown first, without names; `=` stands for itself. Of fields: their names.
  std::vector<std::string_view> fields{};
  bool in_order = true;
};

// nullptr: the protocol has no such verb.
const WireVerb* find_wire_verb(std::string_view verb);

// The words of the request.
std::vector<std::string> request_words(const WireVerb& verb, const Command& command);
std::string request_bytes(const std::vector<std::string>& words);

Answer answer_of(const WireVerb& verb, const wire::RespReply& reply);

}  // namespace tenure::scenario

// How the journal's contents are written for people and for programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tenure/types.h>
#include "core/record.h"
#include "journal/journal.h"

namespace tenure::cli {

// 2027-01-15T08:00:00.000Z; instants before 1970 and behind 9999 as their milliseconds.
std::string iso_time(Instant at);

// 51 s, 0.25 s
std::string seconds_text(Millis time);

// Text that may be anything, safe on a terminal: as it is, or quoted and escaped as in JSON, or in base64.
std::string shown(std::string_view text);

// The beginning of a frame's JSON lines, without the closing brace: {"sequence":1,"stamp":0,"time":"..."
std::string frame_fields(const Frame& frame);
// One record's line, the same with the record's fields.
std::string record_line(const Frame& frame, const Record& record);

}  // namespace tenure::cli

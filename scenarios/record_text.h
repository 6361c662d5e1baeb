// Records as scenarios show and write them, derived from their tables: `LeaseExpired task_id=T1 lease_id=L1`.
//
// A request's mark is shown by its id alone, and a retry policy as retries/initial/max.
#pragma once

#include <string>
#include <vector>

#include <tenure/types.h>
#include "core/record.h"
#include "subject.h"

namespace tenure::scenario {

AnswerLine record_line(const Record& record);

// The record, encoded, that these words (its name, then field=value, instants counted from `start`) describe. Throws
// ScriptError.
std::string encode_words(const std::vector<std::string>& words, Instant start);

}  // namespace tenure::scenario

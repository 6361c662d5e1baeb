// What everybody may see of a record who may read: not payloads, results, lease ids, tokens and request ids, nor
// whatever they could be found out from. Immutable.
//
// Which fields those are is one table (public_record.cc). A field that the table does not name does not compile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tenure/types.h>
#include "core/record.h"

namespace tenure::wire {

// One line: {"record":"TaskCreated","at":1700000000000,"task_id":"T1",...}, `at` being the stamp. Of a token or lease
// id the fence is told.
std::string public_json(const Record& record, Instant at);

// Whether a field is told, by the names of record and field. False for one that is unknown.
bool is_public(std::string_view record, std::string_view field);

}  // namespace tenure::wire

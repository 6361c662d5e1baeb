// The parts of docs/protocol.md and docs/security.md that are made, not written: each between two marks
//
//   <!-- made: tasks -->
//   <!-- end -->
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/verbs.h"

namespace tenure::wire {

// A table of the group's verbs: usage, reply, permission; and one of what they are for and their HTTP routes.
std::string verb_table(Group group);
std::string route_table();
std::string error_table();
std::string limit_table();
// Which roles allow each verb, and for what names they must be.
std::string role_table();

// The document with everything between marks made anew. Fails on marks of an unknown name, or one that has no end.
Result<std::string> refresh_document(std::string_view document);

}  // namespace tenure::wire

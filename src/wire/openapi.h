// /openapi.json: every route, what it takes and what it answers, as OpenAPI 3.0.3; made from the table of verbs.
#pragma once

#include <string>

namespace tenure::wire {

const std::string& openapi_document();

}  // namespace tenure::wire

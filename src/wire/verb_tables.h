// The parts of the table, one for each book and one for the server. Only verbs.cc puts them together.
#pragma once

#include <absl/types/span.h>

#include "wire/replies.h"
#include "wire/verbs.h"

namespace tenure::wire {

absl::Span<const Verb> task_verbs();
absl::Span<const Verb> work_verbs();
absl::Span<const Verb> lock_verbs();
absl::Span<const Verb> server_verbs();

// COUNT and CURSOR of a listing.
inline Paging paging_of(const Values& values, Field cursor) {
  Paging paging;
  paging.count = values.number_or(Field::kCount, paging.count);
  if (values.has(cursor)) paging.cursor = values.text(cursor);
  return paging;
}

}  // namespace tenure::wire

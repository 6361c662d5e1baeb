// A line that somebody typed, as words: separated by blanks; within "..." the escapes \n \r \t \b \a \\ \" and \xHH are
// known, within '...' only \'. A quote opens only at a word's beginning or within it, and what follows a closing quote
// is a blank or the end.
#pragma once

#include <string>
#include <string_view>

#include <absl/container/inlined_vector.h>

namespace tenure::wire {

// Words without quotes view `line`; the others are made in `unquoted`, which is overwritten. Nothing is read behind the
// first word that is more than `words_max`. False: a quote is not closed, or something follows it at once.
bool split_line(std::string_view line, std::size_t words_max, std::string& unquoted,
                absl::InlinedVector<std::string_view, 16>& words);

}  // namespace tenure::wire

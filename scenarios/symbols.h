// Names for what differs from run to run, so that transcripts are short and stay: L1, L2, ... for lease ids and tokens
// in the order they first appear, T1, ... for task ids that the authority made, D1, ... for digests, C1, ... for
// cursors. A later command says $L1.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <tenure/types.h>
#include "subject.h"

namespace tenure::scenario {

// One thread.
class Symbols {
 public:
  explicit Symbols(Instant start) : start_(start) {}

  // The line as the transcript shows it: nulls left out, times counted from the start, symbols for what they stand for.
  std::string show(const AnswerLine& line);
  std::string show_cursor(const std::string& cursor) { return symbol_of('C', cursor); }
  // A word of a command with its symbol ($L1, lease_id=$L1) replaced. Throws ScriptError for an unknown one.
  [[nodiscard]] std::string resolve(const std::string& word) const;

 private:
  std::string show(const AnswerField& field);
  // Replaces tokens, task ids, digests and instants in a text.
  std::string replace(std::string_view text);
  std::string replace_number(std::string_view text, std::size_t& at);
  std::string symbol_of(char kind, const std::string& text);
  [[nodiscard]] std::string instant_text(Instant instant) const;

  const Instant start_;
  std::map<std::string, std::string> symbols_;  // by what they stand for
  std::map<std::string, std::string> texts_;    // by symbol
  std::map<char, int> counts_;
};

}  // namespace tenure::scenario

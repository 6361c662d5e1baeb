// The words of a command, read as the protocol has them: positional ones first, then options by name.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tenure/types.h>
#include "subject.h"

namespace tenure::scenario {

struct OptionWord {
  std::string_view word;
  std::size_t values = 1;
};

// Views the command. Throws ScriptError for words that are missing, too many or no numbers. One thread.
class Arguments {
 public:
  explicit Arguments(const Command& command) : command_(command) {}

  // The next positional word.
  std::string_view next(std::string_view what);
  std::int64_t next_number(std::string_view what);
  // The next words up to the first of these options.
  std::vector<std::string_view> next_until(std::initializer_list<OptionWord> options);
  // Everything that is left must be options of these.
  void take_options(std::initializer_list<OptionWord> options);
  void finish() { take_options({}); }
  [[nodiscard]] bool at_end() const { return at_ == command_.words.size(); }
  [[nodiscard]] bool is_next_option(std::initializer_list<OptionWord> options) const;

  [[nodiscard]] bool has(std::string_view option) const { return options_.contains(option); }
  [[nodiscard]] std::optional<std::string_view> text(std::string_view option, std::size_t value = 0) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view option, std::size_t value = 0) const;
  [[nodiscard]] std::optional<Millis> duration(std::string_view option, std::size_t value = 0) const;
  // COUNT and CURSOR.
  [[nodiscard]] Paging paging() const;

 private:
  const Command& command_;
  std::size_t at_ = 0;
  std::map<std::string_view, std::vector<std::string_view>> options_;
};

}  // namespace tenure::scenario

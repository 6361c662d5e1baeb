// A scenario's file:
//
//   # what this shows
//   command words          one or more command lines
//   ----
//   expected line          as many as there are, up to a blank line or the end
//
// Blank lines and lines that begin with '#' between the steps are kept as they are when a script is rewritten.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenure::scenario {

struct ScriptLine {
  int number = 0;
  std::string text;
};

struct Step {
  std::vector<std::string> preamble;  // comments and blank lines before it
  std::vector<ScriptLine> commands;
  int expected_line = 0;  // where the expectation begins
  std::vector<std::string> expected;
};

struct Script {
  std::string path;
  std::vector<Step> steps;
  std::vector<std::string> epilogue;  // comments behind the last step
};

// Throws ScriptError, with the place.
Script parse_script(std::string path, std::string_view text);

// Whether the transcript is what was expected. `<number>` in an expected line stands for any number: for sizes in
// memory, which are no part of the contract.
bool is_as_expected(const std::vector<std::string>& expected, const std::vector<std::string>& transcript);

// The script with these transcripts, one for each step, as its expectations; one that is as expected stays as it is
// written.
std::string write_script(const Script& script, const std::vector<std::vector<std::string>>& transcripts);

}  // namespace tenure::scenario

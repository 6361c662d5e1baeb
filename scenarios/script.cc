#include "script.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "subject.h"

namespace tenure::scenario {
namespace {

constexpr std::string_view kSeparator = "----";
constexpr std::string_view kAnyNumber = "<number>";

std::vector<ScriptLine> lines_of(std::string_view text) {
  std::vector<ScriptLine> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back({static_cast<int>(lines.size()) + 1, std::string(text.substr(0, end))});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool is_aside(const std::string& line) { return line.empty() || line.starts_with('#'); }

bool matches(std::string_view expected, std::string_view line) {
  const std::size_t any = expected.find(kAnyNumber);
  if (any == std::string_view::npos) return expected == line;
  if (expected.substr(0, any) != line.substr(0, any)) return false;
  const std::size_t end = std::min(line.find_first_not_of("0123456789", any), line.size());
  return end > any && matches(expected.substr(any + kAnyNumber.size()), line.substr(end));
}

}  // namespace

bool is_as_expected(const std::vector<std::string>& expected, const std::vector<std::string>& transcript) {
  return std::equal(expected.begin(), expected.end(), transcript.begin(), transcript.end(), matches);
}

Script parse_script(std::string path, std::string_view text) {
  Script script{.path = std::move(path), .steps = {}, .epilogue = {}};
  const std::vector<ScriptLine> lines = lines_of(text);
  auto line = lines.begin();
  while (true) {
    Step step;
    for (; line != lines.end() && is_aside(line->text); ++line) step.preamble.push_back(line->text);
    if (line == lines.end()) {
      script.epilogue = std::move(step.preamble);
      return script;
    }
    for (; line != lines.end() && line->text != kSeparator; ++line) {
      if (line->text.empty()) {
        throw ScriptError(
            fmt::format("{}:{}: expected '----' after a command, found a blank line", script.path, line->number));
      }
      step.commands.push_back(*line);
    }
    if (line == lines.end() || step.commands.empty()) {
      const int number = line == lines.end() ? lines.back().number : line->number;
      throw ScriptError(
          fmt::format("{}:{}: expected a command and '----', found one without the other", script.path, number));
    }
    step.expected_line = line->number + 1;
    for (++line; line != lines.end() && !line->text.empty(); ++line) step.expected.push_back(line->text);
    script.steps.push_back(std::move(step));
  }
}

std::string write_script(const Script& script, const std::vector<std::vector<std::string>>& transcripts) {
  std::string text;
  const auto add = [&](std::string_view line) { text.append(line).append(1, '\n'); };
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    const Step& step = script.steps[i];
    for (const std::string& line : step.preamble) add(line);
    for (const ScriptLine& command : step.commands) add(command.text);
    add(kSeparator);
    const bool stays = is_as_expected(step.expected, transcripts[i]);
    for (const std::string& line : stays ? step.expected : transcripts[i]) add(line);
  }
  for (const std::string& line : script.epilogue) add(line);
  return text;
}

}  // namespace tenure::scenario

#include "runner.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "words.h"

namespace tenure::scenario {
namespace {

// "w1> lease w1 q": the client w1 asks.
std::string take_label(std::vector<std::string>& words) {
  if (words.empty() || !words.front().ends_with('>')) return "";
  std::string label = words.front().substr(0, words.front().size() - 1);
  words.erase(words.begin());
  return label;
}

}  // namespace

std::vector<std::vector<std::string>> Runner::run(const Script& script) {
  std::vector<std::vector<std::string>> transcripts;
  int line = 1;
  try {
    for (const Step& step : script.steps) {
      std::vector<std::string> transcript;
      for (const ScriptLine& command : step.commands) {
        line = command.number;
        run_command(command.text, transcript);
        if (const std::string breach = subject_.breach(); !breach.empty()) throw ScriptError(breach);
      }
      if (transcript.empty()) transcript.emplace_back("ok");
      transcripts.push_back(std::move(transcript));
    }
    subject_.finish();
    if (const std::string breach = subject_.breach(); !breach.empty()) throw ScriptError(breach);
  } catch (const ScriptError& error) {
    throw ScriptError(fmt::format("{}:{}: {}", script.path, line, error.what()));
  }
  return transcripts;
}

void Runner::run_command(const std::string& line, std::vector<std::string>& transcript) {
  std::vector<std::string> words = split_words(line);
  const std::string label = take_label(words);
  if (words.empty()) throw ScriptError("expected a command");
  for (std::string& word : words) word = symbols_.resolve(word);
  translate_durations(words);
  Command command{.label = label, .verb = words.front(), .words = {words.begin() + 1, words.end()}};
  Open own{.label = label, .answer = std::make_shared<std::optional<Answer>>(), .hope = {}};
  {
    auto hope = std::make_shared<bool>(true);
    own.hope = hope;
    subject_.run(command, [answer = own.answer, hope = std::move(hope)](Answer given) { *answer = std::move(given); });
  }
  const bool is_settled = settle(own, transcript);
  if (!is_settled) transcript.push_back(label.empty() ? "(waiting)" : label + ": (waiting)");
  std::erase_if(open_, [&](const Open& open) { return settle(open, transcript); });
  if (is_settled) return;
  // Its answer, when it comes, must say what it answers.
  if (label.empty()) own.label = command.verb;
  open_.push_back(std::move(own));
}

bool Runner::settle(const Open& open, std::vector<std::string>& transcript) {
  if (*open.answer) {
    show(open.label, **open.answer, transcript);
    return true;
  }
  if (!open.hope.expired()) return false;
  transcript.push_back(open.label.empty() ? "(lost)" : open.label + ": (lost)");
  return true;
}

void Runner::show(const std::string& label, const Answer& answer, std::vector<std::string>& transcript) {
  std::vector<std::string> lines;
  lines.reserve(answer.lines.size());
  for (const AnswerLine& line : answer.lines) lines.push_back(symbols_.show(line));
  if (!answer.in_order) std::sort(lines.begin(), lines.end());
  if (answer.cursor != "0") lines.push_back(fmt::format("(more: {})", symbols_.show_cursor(answer.cursor)));
  for (const std::string& line : lines) transcript.push_back(label.empty() ? line : fmt::format("{}: {}", label, line));
}

}  // namespace tenure::scenario

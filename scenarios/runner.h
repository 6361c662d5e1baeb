// Runs a script against a subject, step by step, and keeps what it answered.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "script.h"
#include "subject.h"
#include "symbols.h"

namespace tenure::scenario {

// Used once. One thread.
class Runner {
 public:
  explicit Runner(Subject& subject) : subject_(subject), symbols_(subject.start()) {}

  // One transcript for each step. Throws ScriptError, with the place, for a script that makes no sense and for a
  // breach.
  std::vector<std::vector<std::string>> run(const Script& script);

 private:
  // A command whose answer has not been shown.
  struct Open {
    std::string label;
    std::shared_ptr<std::optional<Answer>> answer;
    std::weak_ptr<void> hope;  // held by the subject as long as an answer may come
  };

  void run_command(const std::string& line, std::vector<std::string>& transcript);
  // Shows an answer that has come, or that it is lost; false when neither is so.
  bool settle(const Open& open, std::vector<std::string>& transcript);
  void show(const std::string& label, const Answer& answer, std::vector<std::string>& transcript);

  Subject& subject_;
  Symbols symbols_;
  std::vector<Open> open_;  // in the order they were asked
};

}  // namespace tenure::scenario

// What a scenario is run against. The runner knows steps, labels and transcripts; a subject knows how a command reaches
// an authority: EngineSubject calls an engine in this process, others may speak to a server. Both give the same
// answers, so that the same scripts hold for both.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tenure/types.h>

namespace tenure::scenario {

// A script that makes no sense: not a failed expectation. The runner adds the place.
class ScriptError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One value of an answer under its name on the wire: `expires_at` and `remaining_ms` are plain numbers here, and the
// transcript shows them as people read them. Without a name it is shown as it is. No value: null, and not shown.
struct AnswerField {
  std::string name;
  std::optional<std::string> value;
};
using AnswerLine = std::vector<AnswerField>;

struct Answer {
  std::vector<AnswerLine> lines;
  std::string cursor = "0";  // of a listing; "0" at its end
  bool in_order = true;      // false: the lines may come in any order, and are shown sorted
};

// A line that is shown as it is.
inline AnswerLine plain_line(std::string text) { return {{"", std::move(text)}}; }

// One line of a script: its words, with durations in milliseconds and symbols ($L1) replaced.
struct Command {
  std::string label;  // of the client that asks
  std::string verb;
  std::vector<std::string> words;
};

// One thread.
class Subject {
 public:
  // Told once, at once or during a later command; never, if the answer is lost.
  using Answered = std::function<void(Answer)>;

  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  // The instant that transcripts count from.
  [[nodiscard]] virtual Instant start() const = 0;
  // Throws ScriptError for a command that it does not understand.
  virtual void run(const Command& command, const Answered& done) = 0;
  // What has gone wrong behind the answers (a digest that differs, ...); empty when nothing has. Asked after every
  // command.
  [[nodiscard]] virtual std::string breach() const = 0;
  // The last checks, after the script's last step.
  virtual void finish() = 0;
};

}  // namespace tenure::scenario

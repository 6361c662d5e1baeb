#include <algorithm>
#include <numeric>

#include "cli/columns.h"
#include "cli/duration.h"
#include "cli/journal_text.h"
#include "cli/task_commands.h"

namespace tenure::cli {
namespace {

constexpr std::size_t kBarMin = 10;
constexpr std::size_t kBarMax = 60;

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

// How a bar ends.
char mark_of(AttemptOutcome outcome) {
  switch (outcome) {
    case AttemptOutcome::kLeased:
      return '>';
    case AttemptOutcome::kCompleted:
      return '#';
    case AttemptOutcome::kFailed:
      return '!';
    case AttemptOutcome::kExpired:
      return 'x';
    case AttemptOutcome::kKilled:
      return 'K';
  }
  return '?';
}

// The time that is drawn, and its place on so many columns.
struct Axis {
  Instant begin;
  Instant end;
  std::size_t columns;

  [[nodiscard]] std::size_t column_of(Instant at) const {
    const auto length = std::max<std::int64_t>((end - begin).count(), 1);
    const auto passed = std::clamp<std::int64_t>((at - begin).count(), 0, length);
    return static_cast<std::size_t>(static_cast<double>(passed) / static_cast<double>(length) *
                                    static_cast<double>(columns - 1));
  }
};

std::string bar_of(const Axis& axis, const TaskAttempt& attempt) {
  const std::size_t first = axis.column_of(attempt.granted_at);
  const std::size_t last = std::max(first, axis.column_of(attempt.ended_at.value_or(axis.end)));
  std::string bar(axis.columns, ' ');
  std::fill(bar.begin() + static_cast<std::ptrdiff_t>(first), bar.begin() + static_cast<std::ptrdiff_t>(last), '=');
  bar[last] = mark_of(attempt.outcome);
  return "|" + bar + "|";
}

std::string ending_of(const TaskAttempt& attempt) {
  std::string text = fmt::format("granted {}", iso_time(attempt.granted_at));
  if (attempt.extensions > 0) text += fmt::format(", extended {}", counted(attempt.extensions, "time", "times"));
  if (attempt.ended_at) {
    text += fmt::format(", {} after {}", to_string(attempt.outcome),
                        short_duration(*attempt.ended_at - attempt.granted_at));
  } else {
    text += fmt::format(", still {}", to_string(attempt.outcome));
  }
  if (attempt.reason) text += fmt::format(", reason: {}", shown(*attempt.reason));
  if (attempt.late > 0) text += fmt::format("; {} refused", counted(attempt.late, "late report", "late reports"));
  return text;
}

Instant end_of(const TaskStatus& task, const std::vector<TaskAttempt>& attempts) {
  Instant end = task.created_at;
  for (const TaskAttempt& attempt : attempts) {
    end = std::max({end, attempt.granted_at, attempt.ended_at.value_or(task.expires_at.value_or(attempt.granted_at))});
  }
  return end;
}

std::string heading_of(const TaskStatus& task, const std::vector<TaskAttempt>& attempts) {
  std::string text = fmt::format("task {} in queue {}: {}, {}", shown(task.task_id), shown(task.queue),
                                 to_string(task.state), counted(task.attempt, "attempt", "attempts"));
  if (task.late > 0) text += fmt::format(", {} refused", counted(task.late, "late report", "late reports"));
  if (attempts.size() < task.attempt) text += fmt::format("; the last {} are remembered", attempts.size());
  return text + fmt::format("\nsubmitted {}\n", iso_time(task.created_at));
}

}  // namespace

std::string timeline_text(const TaskStatus& task, const std::vector<TaskAttempt>& attempts, std::size_t width) {
  std::string text = heading_of(task, attempts);
  if (attempts.empty()) return text + "nobody has had it yet\n";
  std::vector<std::string> labels;
  std::size_t label_width = 0;
  for (const TaskAttempt& attempt : attempts) {
    labels.push_back(fmt::format("#{} {} fence {}", attempt.attempt, shown(attempt.worker), attempt.fence.value));
    label_width = std::max(label_width, columns_of(labels.back()));
  }
  const std::size_t room = width > label_width + 4 ? width - label_width - 4 : 0;
  const Axis axis{task.created_at, end_of(task, attempts), std::clamp(room, kBarMin, kBarMax)};
  text += '\n';
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const std::string blanks(label_width - columns_of(labels[i]), ' ');
    text += labels[i] + blanks + "  " + bar_of(axis, attempts[i]) + "\n";
    text += "   " + ending_of(attempts[i]) + (i + 1 < attempts.size() ? "; so it ran again\n" : "\n");
  }
  text +=
      fmt::format("\n{} from the first mark to the last;  # completed  ! failed  x expired  K killed  > still leased\n",
                  short_duration(axis.end - axis.begin));
  const std::uint64_t known_late = std::accumulate(attempts.begin(), attempts.end(), std::uint64_t{0},
                                                   [](std::uint64_t sum, const auto& one) { return sum + one.late; });
  if (task.late > known_late) {
    text += fmt::format("{} refused that came under no lease id of these attempts\n",
                        counted(task.late - known_late, "report", "reports"));
  }
  return text;
}

int show_history(const Errand& errand, const std::string& task) {
  const auto attempts = errand.authority.tasks().history(task);
  if (errand.json) {
    errand.print_json(attempts);
    return kDone;
  }
  const auto status = errand.authority.tasks().get(task);
  if (!status) {
    raise({.code = ErrorCode::kNoTask,
           .message = fmt::format("task {}: expected one of this id, found that it is forgotten", shown(task))});
  }
  errand.desk.out << timeline_text(*status, attempts, static_cast<std::size_t>(errand.width));
  return kDone;
}

}  // namespace tenure::cli

#include "base/whole_file.h"
#include "cli/task_commands.h"

namespace tenure::cli {
namespace {

// More than any server takes: it says what it does.
constexpr std::uint64_t kPayloadFileBytesMax = std::uint64_t{64} << 20;

std::string payload_of(const Errand& errand, const SubmitOptions& options) {
  if (options.payload && options.file) {
    raise({.code = ErrorCode::kInvalid, .message = "expected a payload or --file, found both"});
  }
  if (options.file) {
    auto text = read_whole(errand.desk.files, *options.file, kPayloadFileBytesMax);
    if (!text) raise({.code = ErrorCode::kInvalid, .message = text.error().message});
    return std::move(*text);
  }
  return options.payload && *options.payload != "-" ? *options.payload : options.input();
}

Submission submission_of(const SubmitOptions& options, std::string_view payload) {
  Submission task{.queue = options.queue, .payload = payload};
  if (options.id) task.id = *options.id;
  if (options.request_id) task.request_id = *options.request_id;
  if (options.window) task.window = *options.window;
  if (options.retries) task.retries = *options.retries;
  if (options.backoff) task.backoff_initial = *options.backoff;
  task.backoff_max = options.backoff_max.value_or(std::max(task.backoff_max, task.backoff_initial));
  task.attempts = options.attempts;
  if (options.delay) task.delay = *options.delay;
  if (options.priority) task.priority = *options.priority;
  if (options.key) task.key = *options.key;
  return task;
}

void print_submitted(const Errand& errand, const Submitted& task) {
  if (errand.json) return errand.print_json(task);
  errand.print("{}{}\n", task.task_id, task.created ? "" : " (existed: its request id is known)");
}

// Many in flight, one behind the other.
int submit_lines(const Errand& errand, const SubmitOptions& options, std::string_view text) {
  if (options.id || options.request_id || options.wait) {
    raise({.code = ErrorCode::kInvalid,
           .message = "--lines makes several tasks: expected no --id, --request-id, --wait"});
  }
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  constexpr std::size_t kAtOnce = 1000;
  for (std::size_t begin = 0; begin < lines.size(); begin += kAtOnce) {
    std::vector<Submission> tasks;
    for (std::size_t i = begin; i < std::min(lines.size(), begin + kAtOnce); ++i) {
      tasks.push_back(submission_of(options, lines[i]));
    }
    for (const Submitted& task : errand.authority.tasks().submit_many(tasks)) print_submitted(errand, task);
  }
  return kDone;
}

}  // namespace

int submit_task(const Errand& errand, const SubmitOptions& options) {
  const std::string payload = payload_of(errand, options);
  if (options.lines) return submit_lines(errand, options, payload);
  const Submitted task = errand.authority.tasks().submit(submission_of(options, payload));
  if (!options.wait) {
    print_submitted(errand, task);
    return kDone;
  }
  // Whoever gives up waiting knows the task.
  errand.desk.err << fmt::format("waiting for {}\n", task.task_id) << std::flush;
  return wait_for_task(errand, {.task = task.task_id});
}

}  // namespace tenure::cli

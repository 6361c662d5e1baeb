// The commands about tasks; see docs/cli.md. Each answers its exit status and throws what errors.h lists.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tenure/tasks.h>
#include "cli/errand.h"

namespace tenure::cli {

struct SubmitOptions {
  std::string queue{};
  std::optional<std::string> payload{};  // absent, or "-": the input
  std::optional<std::string> file{};     // or a file's contents
  std::function<std::string()> input{};  // all of standard input
  std::optional<std::string> id{};
  std::optional<std::string> request_id{};
  std::optional<Millis> window{};
  std::optional<std::int64_t> retries{};
  std::optional<Millis> backoff{};
  std::optional<Millis> backoff_max{};
  std::optional<std::int64_t> attempts{};
  std::optional<Millis> delay{};
  std::optional<std::int64_t> priority{};
  std::optional<std::string> key{};
  bool lines = false;  // one task for each line of the input
  bool wait = false;   // then as wait_for_task
};
int submit_task(const Errand& errand, const SubmitOptions& options);

struct GetOptions {
  std::string task{};
  bool result = false;  // nothing but its bytes
};
int show_task(const Errand& errand, const GetOptions& options);

struct WaitOptions {
  std::string task{};
  std::optional<Millis> timeout{};  // absent: as long as it takes
  bool result = false;
};
int wait_for_task(const Errand& errand, const WaitOptions& options);

int show_history(const Errand& errand, const std::string& task);

struct ListOptions {
  std::optional<std::string> queue{};  // absent: the queues themselves
  std::optional<std::string> state{};
  std::int64_t count = 100;
};
int list_tasks(const Errand& errand, const ListOptions& options);

struct KillOptions {
  std::string task{};
  std::string reason = "killed by hand";
};
int kill_task(const Errand& errand, const KillOptions& options);

struct ResubmitOptions {
  std::string task{};
  std::optional<std::string> request_id{};
};
int resubmit_task(const Errand& errand, const ResubmitOptions& options);

int pause_queue(const Errand& errand, const std::string& queue);
int resume_queue(const Errand& errand, const std::string& queue);

// --- what they print ---

std::string task_text(const TaskStatus& task);
// The attempts of a task as bars along one line of time, each with what became of it; so wide at most.
std::string timeline_text(const TaskStatus& task, const std::vector<TaskAttempt>& attempts, std::size_t width);

}  // namespace tenure::cli

#include <array>

#include "cli/columns.h"
#include "cli/journal_text.h"
#include "cli/task_commands.h"

namespace tenure::cli {
namespace {

constexpr std::int64_t kPageCountMax = 1000;

// Page after page until the end, or until there are enough.
template <class Page, class Entries, class Ask>
Page collect(std::int64_t count, Entries Page::* entries, const Ask& ask) {
  Page all;
  all.cursor = "0";
  do {
    const auto missing = count - static_cast<std::int64_t>((all.*entries).size());
    Page page = ask(Paging{.count = std::min(missing, kPageCountMax), .cursor = all.cursor});
    all.cursor = std::move(page.cursor);
    (all.*entries).insert((all.*entries).end(), (page.*entries).begin(), (page.*entries).end());
  } while (all.cursor != "0" && static_cast<std::int64_t>((all.*entries).size()) < count);
  return all;
}

TaskState parse_state(std::string_view word) {
  constexpr std::array kStates = {TaskState::kWaiting, TaskState::kLeased, TaskState::kCompleted, TaskState::kFailed,
                                  TaskState::kDead};
  std::string upper(word);
  for (char& letter : upper) letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - ('a' - 'A')) : letter;
  for (const TaskState state : kStates) {
    if (to_string(state) == upper) return state;
  }
  raise({.code = ErrorCode::kInvalid,
         .message = fmt::format("--state: expected waiting, leased, completed, failed or dead, found '{}'", word)});
}

void note_more(const Errand& errand, const std::string& cursor) {
  if (cursor != "0") errand.desk.err << "there are more: --count shows so many\n";
}

int list_queues(const Errand& errand, const ListOptions& options) {
  const auto page = collect(options.count, &QueuePage::queues,
                            [&](const Paging& paging) { return errand.authority.tasks().queues(paging); });
  if (errand.json) {
    errand.print_json(page);
    return kDone;
  }
  Columns columns({"QUEUE", ">WAITING", ">DELAYED", ">LEASED", ">COMPLETED", ">FAILED", ">DEAD", ""});
  for (const QueuePage::Entry& queue : page.queues) {
    const auto number = [](std::uint64_t value) { return std::to_string(value); };
    columns.add({shown(queue.queue), number(queue.waiting), number(queue.delayed), number(queue.leased),
                 number(queue.completed), number(queue.failed), number(queue.dead), queue.paused ? "paused" : ""});
  }
  if (columns.is_empty()) {
    errand.desk.err << "no queues: one is there while it has a task, see `tenure submit --help`\n";
  } else {
    errand.desk.out << columns.text();
  }
  note_more(errand, page.cursor);
  return kDone;
}

}  // namespace

int list_tasks(const Errand& errand, const ListOptions& options) {
  if (options.count < 1) raise({.code = ErrorCode::kInvalid, .message = "--count: expected 1 or more"});
  if (!options.queue) return list_queues(errand, options);
  TaskListing listing{.queue = *options.queue};
  if (options.state) listing.state = parse_state(*options.state);
  const auto page = collect(options.count, &TaskPage::tasks, [&](const Paging& paging) {
    listing.paging = paging;
    return errand.authority.tasks().list(listing);
  });
  if (errand.json) {
    errand.print_json(page);
    return kDone;
  }
  Columns columns({"TASK", "STATE", ">ATTEMPT"});
  for (const TaskPage::Entry& task : page.tasks) {
    columns.add({shown(task.task_id), std::string(to_string(task.state)), std::to_string(task.attempt)});
  }
  if (columns.is_empty()) {
    errand.desk.err << fmt::format("no such tasks in queue {}; `tenure list` shows the queues\n",
                                   shown(*options.queue));
  } else {
    errand.desk.out << columns.text();
  }
  note_more(errand, page.cursor);
  return kDone;
}

}  // namespace tenure::cli

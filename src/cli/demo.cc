#include "cli/demo.h"

#include <string>
#include <unistd.h>

#include <fmt/core.h>

#include "cli/stage.h"
#include "journal/file_journal.h"
#include "journal/memory_journal.h"

namespace tenure::cli {
namespace {

using namespace std::chrono_literals;

void tell_unhappy_path(Stage& stage) {
  stage.chapter("1. A task whose worker vanishes");
  stage.tell("A client submits a task. Two workers, W1 and W2, are there to run it.");
  stage.say("client", "submit T1 to queue mail");
  stage.tasks().submit({.queue = "mail", .payload = "send the invoice", .id = "T1"});
  stage.show_task("T1");

  stage.say("W1", "lease a task");
  const auto first = stage.tasks().lease({.worker = "W1", .queues = {"mail"}}).at(0);
  stage.reply(fmt::format("T1 is yours for 30 s, attempt {}, fence {}", first.attempt, first.fence.value));
  stage.show_task("T1");

  stage.advance(20s);
  stage.say("W1", "still busy: extend");
  const auto extended = stage.tasks().extend({.task_id = "T1", .lease_id = first.lease_id});
  stage.reply(fmt::format("EXTENDED, {} s left", extended.value().remaining.count() / 1000));
  stage.tell("Then W1 stalls. No heartbeat comes any more.");

  stage.advance(31s);
  stage.tell("The lease is over. Time revoked it; nobody had to notice that W1 is gone.");
  stage.show_task("T1");

  stage.say("W2", "lease a task");
  const auto second = stage.tasks().lease({.worker = "W2", .queues = {"mail"}}).at(0);
  stage.reply(fmt::format("T1 is yours, attempt {}, fence {}: greater than W1's", second.attempt, second.fence.value));
  stage.show_task("T1");

  stage.say("W2", "complete T1");
  const bool committed =
      stage.tasks().complete({.task_id = "T1", .lease_id = second.lease_id, .result = "sent"}) == Report::kCommitted;
  stage.reply(committed ? "COMMITTED" : "CANCELLED");
  stage.show_task("T1");

  stage.tell(
      "At last W1 wakes up and reports, too late. It is told so, and a record says that its result was refused.");
  stage.say("W1", "complete T1");
  const bool late = stage.tasks().complete({.task_id = "T1", .lease_id = first.lease_id}) == Report::kCancelled;
  stage.reply(late ? "CANCELLED" : "COMMITTED");
  stage.show_task("T1");

  stage.tell("Why did T1 run twice? Its history knows:");
  for (const TaskAttempt& attempt : stage.tasks().history("T1")) {
    stage.tell(fmt::format("  attempt {} by {}: {} after {} s, {} extension(s), {} late report(s) refused",
                           attempt.attempt, attempt.worker, to_string(attempt.outcome),
                           (attempt.ended_at.value() - attempt.granted_at).count() / 1000, attempt.extensions,
                           attempt.late));
  }
}

void tell_backlog(Stage& stage) {
  stage.chapter("2. A domain's offsets, one at a time and in order");
  stage.tell("An orchestrator reads a log. Everything about account A must happen in order, and never twice.");
  stage.say("reader", "acquire offset 1 of domain A");
  const auto first = std::get<Acquired>(stage.work().try_acquire({.domain = "A", .offset = Offset{1}}));
  stage.reply(fmt::format("ACQUIRED, fence {}", first.fence.value));

  stage.say("reader", "acquire offset 2 of domain A");
  const auto queued = std::get<Enqueued>(stage.work().try_acquire({.domain = "A", .offset = Offset{2}}));
  stage.reply(fmt::format("ENQUEUED at position {}: 1 is still in flight", queued.position));
  stage.show_domain("A");

  stage.say("reader", "offset 1 succeeded");
  const auto done = stage.work().succeed({.domain = "A", .token = first.token});
  stage.reply(fmt::format("NEXT_HINT {}: a hint, not a hand-over", done.next.value().value));

  stage.say("reader", "acquire offset 3 of domain A");
  try {
    stage.work().try_acquire({.domain = "A", .offset = Offset{3}});
  } catch (const BacklogOrdering& error) {
    stage.reply(fmt::format("BACKLOGORDER: {}", error.what()));
  }

  stage.say("reader", "acquire offset 2 of domain A");
  const auto second = std::get<Acquired>(stage.work().try_acquire({.domain = "A", .offset = Offset{2}}));
  stage.reply(fmt::format("ACQUIRED, fence {}", second.fence.value));
  stage.work().succeed({.domain = "A", .token = second.token});

  stage.say("reader", "acquire offset 1 of domain A, once more");
  stage.work().try_acquire({.domain = "A", .offset = Offset{1}});
  stage.reply("ALREADY_PROCESSED: what is done stays done");
  stage.show_domain("A");
}

void tell_lock(Stage& stage) {
  const LockName lock{.domain = "orders", .identifier = "12345"};
  stage.chapter("3. A lock that frees itself");
  stage.tell("Alice takes a lock for 10 s, and her process is paused for longer than that.");
  stage.say("alice", "acquire orders::12345");
  const auto alice = stage.locks().acquire({.lock = lock, .owner = "alice", .lease = 10s});
  stage.reply(fmt::format("held, fence {}", alice.value().fence.value().value));
  stage.say("bob", "acquire orders::12345");
  const auto busy = stage.locks().acquire({.lock = lock, .owner = "bob", .lease = 10s});
  stage.reply(busy ? "held" : "no: held by alice");
  stage.show_lock(lock);

  stage.advance(11s);
  stage.show_lock(lock);
  stage.say("bob", "acquire orders::12345");
  const auto bob = stage.locks().acquire({.lock = lock, .owner = "bob", .lease = 10s});
  stage.reply(
      fmt::format("held, fence {}: a resource that has seen it refuses alice's", bob.value().fence.value().value));

  stage.say("alice", "release orders::12345");
  try {
    stage.locks().release({.lock = lock, .token = alice->token});
  } catch (const LockExpired& error) {
    stage.reply(fmt::format("EXPIRED: {}", error.what()));
  }
  stage.show_lock(lock);
}

// Small, and without a batch that depends on how fast the story is told.
FileJournal::Options kept_options() { return {.segment_bytes = 64 << 10, .idle = std::chrono::hours(1)}; }

Result<std::unique_ptr<Journal>> stage_journal(const Desk& desk, const std::string& keep) {
  if (keep.empty()) return std::make_unique<MemoryJournal>(MemoryJournal::Keep::kFrames);
  if (desk.files.exists(keep)) {
    const auto names = desk.files.list(keep);
    if (!names) return tl::unexpected(names.error());
    if (!names->empty()) {
      return fail_with(ErrorCode::kInvalid, "{}: expected an empty folder or none, found '{}' in it. Give another one",
                       keep, names->front());
    }
  }
  return FileJournal::open(desk.files, keep, desk.entropy, kept_options());
}

}  // namespace

int run_demo(const Desk& desk, const DemoOptions& options) {
  auto journal = stage_journal(desk, options.keep);
  if (!journal) return finish(desk, tl::unexpected(journal.error()));
  Stage stage(**journal, !options.plain && isatty(STDOUT_FILENO) == 1);
  stage.tell("Tenure decides who owns a piece of work, until when, and proves it with a fence.");
  stage.tell("Every decision is a record in its journal; the state is what replay makes of them.");
  tell_unhappy_path(stage);
  tell_backlog(stage);
  tell_lock(stage);
  stage.chapter("The journal is the truth");
  if (!stage.replay_agrees()) {
    stage.tell("Replaying the journal gave another state: that is a bug.");
    return 1;
  }
  stage.tell("Replayed from its bytes, the journal gives exactly the state above.");
  if (options.keep.empty()) return 0;
  if (auto closed = stage.close(); !closed) return finish(desk, closed);
  stage.tell(fmt::format("It is kept in {0}; every record of it: tenure journal dump {0}", options.keep));
  return 0;
}

}  // namespace tenure::cli

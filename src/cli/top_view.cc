// What `tenure top` shows.
#include <algorithm>

#include "cli/columns.h"
#include "cli/duration.h"
#include "cli/journal_text.h"
#include "cli/quantity.h"
#include "cli/top.h"

namespace tenure::cli {
namespace {

// What a number has grown by, for each second between two views.
class Rates {
 public:
  Rates(const TopView& view, const std::optional<TopView>& before) : view_(view), before_(before) {
    if (before) seconds_ = static_cast<double>((view.at - before->at).count()) / 1000;
  }
  [[nodiscard]] std::string of(const char* field) const {
    if (seconds_ <= 0 || !before_->figures || !view_.figures) return "-";
    // A server that was restarted counts anew.
    const double grown = view_.figures->sum(field) - before_->figures->sum(field);
    return amount_text(std::max(0.0, grown) / seconds_) + "/s";
  }

 private:
  const TopView& view_;
  const std::optional<TopView>& before_;
  double seconds_ = 0;
};

std::vector<std::string> summary_lines(const std::string& place, const TopView& view, const Rates& rates) {
  if (!view.figures) return {fmt::format("tenure top  {}  {}", shown(place), iso_time(view.now))};
  const ServerFigures& figures = *view.figures;
  const auto up = std::chrono::seconds(static_cast<std::int64_t>(figures.number("uptime_in_seconds")));
  return {
      fmt::format("tenure top  {}  version {}  up {}  {}", place, figures.text("tenure_version"), short_duration(up),
                  iso_time(view.now)),
      fmt::format("tasks    {} kept  submitted {}  ended {}  retried {}", amount_text(figures.number("tasks")),
                  rates.of("tasks_submitted"), rates.of("tasks_ended"), rates.of("retries")),
      fmt::format("leases   granted {}  expired {}  late reports refused {}", rates.of("leases_granted"),
                  rates.of("leases_expired"), rates.of("late_reports_refused")),
      fmt::format("locks    {} held  clients {} ({} waiting)  memory {} of {}", amount_text(figures.number("locks")),
                  amount_text(figures.number("connected_clients")), amount_text(figures.number("blocked_clients")),
                  bytes_text(figures.number("state_bytes")), bytes_text(figures.number("state_bytes_max"))),
      fmt::format("journal  frame {} ({})  {}{}", figures.text("durable_frame"), rates.of("durable_frame"),
                  bytes_text(figures.number("journal_bytes")),
                  figures.text("has_room") == "0" ? "  the disk is FULL" : ""),
  };
}

Columns queue_columns(const TopView& view) {
  Columns columns({"QUEUE", ">WAITING", ">DELAYED", ">LEASED", ">COMPLETED", ">FAILED", ">DEAD", ""});
  for (const QueuePage::Entry& queue : view.queues.queues) {
    const auto number = [](std::uint64_t value) { return amount_text(static_cast<double>(value)); };
    columns.add({shown(queue.queue), number(queue.waiting), number(queue.delayed), number(queue.leased),
                 number(queue.completed), number(queue.failed), number(queue.dead), queue.paused ? "paused" : ""});
  }
  return columns;
}

Columns worker_columns(const TopView& view) {
  Columns columns({"WORKER", ">LEASES", ">ASKED"});
  for (const WorkerPage::Entry& worker : view.workers.workers) {
    columns.add(
        {shown(worker.worker), std::to_string(worker.leases), short_duration(view.now - worker.last_seen) + " ago"});
  }
  return columns;
}

Columns lock_columns(const TopView& view) {
  Columns columns({"LOCK", "OWNER", ">FENCE", ">HELD FOR", ">LEFT", ">WAITERS"});
  for (const LockStatus& lock : view.locks.locks) {
    columns.add({fmt::format("{}::{}", shown(lock.domain), shown(lock.identifier)), shown(lock.owner),
                 std::to_string(lock.fence.value), short_duration(view.now - lock.granted_at),
                 short_duration(lock.remaining), std::to_string(lock.waiters)});
  }
  return columns;
}

// Each gets what it needs, as long as the others have their share of the rows.
std::vector<std::size_t> share_rows(const std::vector<std::size_t>& wanted, std::size_t rows) {
  std::vector<std::size_t> given(wanted.size(), 0);
  bool was_given = true;
  for (std::size_t left = rows; left > 0 && was_given;) {
    was_given = false;
    for (std::size_t i = 0; i < wanted.size() && left > 0; ++i) {
      if (given[i] == wanted[i]) continue;
      ++given[i];
      --left;
      was_given = true;
    }
  }
  return given;
}

}  // namespace

std::vector<std::string> top_lines(const std::string& place, const TopView& view, const std::optional<TopView>& before,
                                   const TerminalSize& size) {
  const auto width = static_cast<std::size_t>(std::max(size.columns, 1));
  const auto rows = static_cast<std::size_t>(std::max(size.rows, 1));
  std::vector<std::string> all;
  for (const std::string& line : summary_lines(place, view, Rates(view, before))) all.push_back(cut_to(line, width));
  std::vector<std::vector<std::string>> tables;
  for (const Columns& columns : {queue_columns(view), worker_columns(view), lock_columns(view)}) {
    if (!columns.is_empty()) tables.push_back(columns.lines(width));
  }
  std::vector<std::size_t> wanted;
  for (const auto& table : tables) wanted.push_back(table.size());
  const std::size_t used = all.size() + tables.size();
  const auto given = share_rows(wanted, rows > used ? rows - used : 0);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    all.emplace_back();
    all.insert(all.end(), tables[i].begin(), tables[i].begin() + static_cast<std::ptrdiff_t>(given[i]));
  }
  if (tables.empty()) all.emplace_back("no queues, no workers, no locks");
  if (all.size() > rows) all.resize(rows);
  return all;
}

}  // namespace tenure::cli

#include <charconv>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/duration.h"
#include "cli/journal_text.h"
#include "cli/quantity.h"
#include "cli/server_commands.h"
#include "wire/json_writer.h"

namespace tenure::cli {
namespace {

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::general);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Calls use(name, number) for each part of `a=1,b=2`; false, with nothing called, if it is not that.
template <class Use>
bool for_each_part(std::string_view text, const Use& use) {
  std::vector<std::pair<std::string_view, double>> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    const auto number = equals == std::string_view::npos ? std::nullopt : parse_number(part.substr(equals + 1));
    if (!number) return false;
    parts.emplace_back(part.substr(0, equals), *number);
  }
  for (const auto& [name, number] : parts) use(name, number);
  return !parts.empty();
}

void put_field(wire::JsonWriter& out, const std::string& name, std::string_view value) {
  if (const auto number = parse_number(value)) return out.field(name, *number);
  out.name(name);
  bool is_first = true;
  const bool has_parts = for_each_part(value, [&](std::string_view part, double number) {
    if (std::exchange(is_first, false)) out.begin_object();
    out.field(part, number);
  });
  if (has_parts) return out.end_object();
  out.value(is_utf8(value) ? value : std::string_view("(not text)"));
}

void print_sections(const Errand& errand, const ServerFigures& figures) {
  std::string text;
  wire::JsonWriter out(text);
  out.begin_object();
  for (const InfoSection& section : figures.sections()) {
    out.name(section.name);
    out.begin_object();
    for (const auto& [name, value] : section.fields) put_field(out, name, value);
    out.end_object();
  }
  out.end_object();
  errand.desk.out << text << '\n';
}

std::string whole(double value) { return fmt::format("{:.0f}", value); }

// Empty: it is alone.
std::string cluster_text(const ServerFigures& figures) {
  const std::string_view role = figures.text("node_role");
  const std::string_view leader = figures.text("leader");
  if (role.empty()) return {};
  return fmt::format("node {}, {}; {} leads, epoch {}; {} frames behind", figures.text("node"), role,
                     leader.empty() ? "nobody" : leader, figures.text("epoch"), figures.text("lag_frames"));
}

std::string status_text(const std::string& place, const ServerFigures& figures) {
  const auto number = [&](std::string_view field) { return figures.number(field); };
  const auto seconds = static_cast<std::int64_t>(number("uptime_in_seconds"));
  return fields_text(
      {{"server", fmt::format("{}, version {}, process {}, up {}{}", place, figures.text("tenure_version"),
                              figures.text("process_id"), short_duration(std::chrono::seconds(seconds)),
                              figures.text("stopping") == "1" ? ", stopping" : "")},
       {"cluster", cluster_text(figures)},
       {"data", fmt::format("{}, frame {} durable, {} of journal, {} of snapshots, {} left on the disk{}",
                            figures.text("data"), figures.text("durable_frame"), bytes_text(number("journal_bytes")),
                            bytes_text(number("snapshot_bytes")), bytes_text(number("disk_free_bytes")),
                            figures.text("has_room") == "0" ? "; it is FULL" : "")},
       {"memory", fmt::format("{} of {} for the state", bytes_text(number("state_bytes")),
                              bytes_text(number("state_bytes_max")))},
       {"clients", fmt::format("{} of {}, {} waiting", whole(number("connected_clients")), whole(number("maxclients")),
                               whole(number("blocked_clients")))},
       {"tasks",
        fmt::format("{} kept in {} queues; {} submitted since the start, {} ended", whole(number("tasks")),
                    whole(number("queues")), whole(number("tasks_submitted")), whole(figures.sum("tasks_ended")))},
       {"work", fmt::format("{} domains", whole(number("work_domains")))},
       {"locks", fmt::format("{} held", whole(number("locks")))},
       {"leases", fmt::format("{} granted, {} expired, {} late reports refused; the newest fence is {}",
                              whole(figures.sum("leases_granted")), whole(figures.sum("leases_expired")),
                              whole(number("late_reports_refused")), figures.text("fence"))}});
}

std::uint64_t count_locks(Locks& locks) {
  std::uint64_t count = 0;
  LockListing listing;
  do {
    const LockPage page = locks.list(listing);
    count += page.locks.size();
    listing.paging.cursor = page.cursor;
  } while (listing.paging.cursor != "0");
  return count;
}

// What can be asked of any authority.
int show_embedded(const Errand& errand) {
  std::uint64_t queues = 0;
  std::uint64_t open = 0;
  Paging paging;
  do {
    const QueuePage page = errand.authority.tasks().queues(paging);
    queues += page.queues.size();
    for (const auto& queue : page.queues) open += queue.waiting + queue.delayed + queue.leased;
    paging.cursor = page.cursor;
  } while (paging.cursor != "0");
  const std::uint64_t locks = count_locks(errand.authority.locks());
  if (errand.json) {
    std::string text;
    wire::JsonWriter out(text);
    out.begin_object();
    out.bytes("data", errand.place);
    out.field("queues", queues);
    out.field("open_tasks", open);
    out.field("locks", locks);
    out.field("now", errand.authority.now());
    out.end_object();
    errand.desk.out << text << '\n';
  } else {
    errand.desk.out << fields_text({{"data", shown(errand.place)},
                                    {"tasks", fmt::format("{} not ended, in {} queues", open, queues)},
                                    {"locks", fmt::format("{} held in space {}", locks, kDefaultSpace)},
                                    {"time", iso_time(errand.authority.now())}});
  }
  return kDone;
}

}  // namespace

ServerFigures::ServerFigures(std::string_view info) {
  while (!info.empty()) {
    std::string_view line = info.substr(0, info.find('\n'));
    info.remove_prefix(std::min(info.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("# ")) {
      std::string name(line.substr(2));
      for (char& letter : name) {
        letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
      }
      sections_.push_back({.name = std::move(name), .fields = {}});
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos && !sections_.empty()) {
      sections_.back().fields.emplace_back(line.substr(0, colon), line.substr(colon + 1));
    }
  }
}

std::string_view ServerFigures::text(std::string_view field) const {
  for (const InfoSection& section : sections_) {
    for (const auto& [name, value] : section.fields) {
      if (name == field) return value;
    }
  }
  return {};
}

double ServerFigures::number(std::string_view field) const { return parse_number(text(field)).value_or(0); }

double ServerFigures::sum(std::string_view field) const {
  double all = 0;
  const bool has_parts = for_each_part(text(field), [&](std::string_view, double part) { all += part; });
  return has_parts ? all : number(field);
}

int show_status(const Errand& errand) {
  if (errand.client == nullptr) return show_embedded(errand);
  const ServerFigures figures(errand.client->info());
  if (errand.json) {
    print_sections(errand, figures);
  } else {
    errand.desk.out << status_text(errand.place, figures);
  }
  return kDone;
}

}  // namespace tenure::cli

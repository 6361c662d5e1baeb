#include "cli/columns.h"
#include "cli/journal_text.h"
#include "cli/lock_commands.h"

namespace tenure::cli {
namespace {

template <class Page, class Print>
void print_pages(const Errand& errand, std::int64_t count, const std::function<Page(const Paging&)>& ask,
                 const Print& print) {
  Paging paging{.count = std::min<std::int64_t>(count, 1000), .cursor = "0"};
  do {
    const Page page = ask(paging);
    if (errand.json) {
      errand.print_json(page);
    } else {
      count -= print(page);
    }
    paging.cursor = page.cursor;
  } while (paging.cursor != "0" && count > 0 && !errand.json);
}

int list_domains(const Errand& errand, std::int64_t count) {
  print_pages<DomainPage>(
      errand, count, [&](const Paging& paging) { return errand.authority.work().domains(paging); },
      [&](const DomainPage& page) {
        for (const std::string& domain : page.domains) errand.print("{}\n", shown(domain));
        return static_cast<std::int64_t>(page.domains.size());
      });
  return kDone;
}

std::int64_t print_offsets(const Errand& errand, const OffsetPage& page) {
  for (const Offset offset : page.offsets) errand.print("{}\n", offset.value);
  return static_cast<std::int64_t>(page.offsets.size());
}

int print_part(const Errand& errand, const DomainOptions& options) {
  WorkLeases& work = errand.authority.work();
  const std::string& domain = *options.domain;
  if (options.done) {
    print_pages<IntervalPage>(
        errand, options.count, [&](const Paging& paging) { return work.done(domain, paging); },
        [&](const IntervalPage& page) {
          for (const Interval& interval : page.intervals) {
            errand.print("{}..{}\n", interval.first.value, interval.last.value);
          }
          return static_cast<std::int64_t>(page.intervals.size());
        });
    return kDone;
  }
  print_pages<OffsetPage>(
      errand, options.count,
      [&](const Paging& paging) { return options.failed ? work.failed(domain, paging) : work.backlog(domain, paging); },
      [&](const OffsetPage& page) { return print_offsets(errand, page); });
  return kDone;
}

std::string in_flight_text(const DomainStatus& domain) {
  if (!domain.offset) return "nothing";
  std::string text = fmt::format("offset {}, fence {}", domain.offset->value, domain.fence ? domain.fence->value : 0);
  if (domain.acquired_at) text += fmt::format(", first acquired {}", iso_time(*domain.acquired_at));
  if (domain.retry_count.value_or(0) > 0) text += fmt::format(", failed {} times", *domain.retry_count);
  if (domain.expires_at) text += fmt::format(", until {}", iso_time(*domain.expires_at));
  return text;
}

}  // namespace

std::string domain_text(const DomainStatus& domain) {
  std::string backlog = std::to_string(domain.backlog);
  if (domain.backlog_head) backlog += fmt::format(", the next is {}", domain.backlog_head->value);
  return fields_text({{"domain", shown(domain.domain)},
                      {"in flight", in_flight_text(domain)},
                      {"backlog", backlog},
                      {"processed", std::to_string(domain.processed)},
                      {"failed", std::to_string(domain.failed)},
                      {"trimmed below", std::to_string(domain.trimmed_below.value)}});
}

int show_domain(const Errand& errand, const DomainOptions& options) {
  if (!options.domain) return list_domains(errand, options.count);
  if (options.trim) errand.authority.work().trim(*options.domain, Offset{*options.trim});
  if (options.backlog || options.failed || options.done) return print_part(errand, options);
  const auto domain = errand.authority.work().inspect(*options.domain);
  if (!domain) {
    complain(errand.desk, errand.json, ErrorCode::kNotFound,
             fmt::format("domain {}: expected one of this name, found none", shown(*options.domain)),
             "`tenure domain` lists all there are.");
    return kNotFound;
  }
  if (errand.json) {
    errand.print_json(domain);
  } else {
    errand.desk.out << domain_text(*domain);
  }
  return kDone;
}

}  // namespace tenure::cli

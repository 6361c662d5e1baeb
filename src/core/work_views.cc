// What can be read of the work book, and what time asks of it.
#include <algorithm>
#include <limits>

#include "base/hash.h"
#include "core/cursor.h"
#include "core/work_book.h"

namespace tenure {

const Domain* WorkBook::find(std::string_view domain) const {
  return domains_.find(static_cast<std::uint32_t>(hash64(domain)),
                       [&](const Domain& other) { return other.name == domain; });
}

const Domain* WorkBook::first_expired(Instant now) {
  return expiries_.first_due(now, [](const Domain& domain) { return domain.hold->expires_at; });
}

const Domain* WorkBook::expired(std::string_view name, Instant now) const {
  const Domain* domain = find(name);
  return domain != nullptr && domain->hold && is_expired(domain->hold->expires_at, now) ? domain : nullptr;
}

std::optional<DomainStatus> WorkBook::inspect(std::string_view name) const {
  const Domain* domain = find(name);
  if (domain == nullptr) return std::nullopt;
  DomainStatus status{.domain = domain->name,
                      .in_flight = domain->hold.has_value(),
                      .offset = {},
                      .fence = {},
                      .retry_count = {},
                      .acquired_at = {},
                      .expires_at = {},
                      .backlog = domain->has_backlog() ? domain->backlog->size() : 0,
                      .backlog_head = domain->hint(),
                      .processed = domain->processed.offsets(),
                      .failed = domain->failed.offsets(),
                      .trimmed_below = domain->trimmed_below};
  if (domain->hold) {
    status.offset = domain->hold->offset;
    status.fence = domain->hold->token.fence;
    status.retry_count = domain->hold->retry_count;
    status.acquired_at = domain->hold->acquired_at;
    if (domain->hold->expires_at != kNever) status.expires_at = domain->hold->expires_at;
  }
  return status;
}

// The cursor is the place shown last.
Result<OffsetPage> WorkBook::list_backlog(std::string_view name, const Paging& paging) const {
  const auto cursor = parse_cursor<1>(paging.cursor);
  if (!cursor) return tl::unexpected(cursor.error());
  OffsetPage page{.cursor = "0", .offsets = {}};
  const Domain* domain = find(name);
  if (domain == nullptr || !domain->has_backlog()) return page;
  const Backlog& backlog = *domain->backlog;
  std::uint64_t place = backlog.head_place();
  const std::uint64_t end = place + backlog.size();
  if (*cursor && (**cursor)[0] >= end) return page;
  if (*cursor && (**cursor)[0] >= place) place = (**cursor)[0] + 1;
  for (; place < end; ++place) {
    if (std::ssize(page.offsets) == paging.count) {
      page.cursor = cursor_text<1>({place - 1});
      break;
    }
    page.offsets.push_back(backlog.at(place));
  }
  return page;
}

// The cursor is one more than the offset shown last.
Result<OffsetPage> WorkBook::list_failed(std::string_view name, const Paging& paging) const {
  const auto cursor = parse_cursor<1>(paging.cursor);
  if (!cursor) return tl::unexpected(cursor.error());
  OffsetPage page{.cursor = "0", .offsets = {}};
  const Domain* domain = find(name);
  if (domain == nullptr) return page;
  const std::uint64_t from = *cursor ? (**cursor)[0] : 0;
  const auto& map = domain->failed.map();
  auto next = map.upper_bound(static_cast<std::int64_t>(from));
  if (next != map.begin()) --next;
  for (; next != map.end(); ++next) {
    const auto last = static_cast<std::uint64_t>(next->second);
    for (std::uint64_t offset = std::max(from, static_cast<std::uint64_t>(next->first)); offset <= last; ++offset) {
      if (std::ssize(page.offsets) == paging.count) {
        page.cursor = cursor_text<1>({offset});
        return page;
      }
      page.offsets.push_back(Offset{static_cast<std::int64_t>(offset)});
    }
  }
  return page;
}

// The cursor is one more than the first offset of the interval shown last.
Result<IntervalPage> WorkBook::list_done(std::string_view name, const Paging& paging) const {
  const auto cursor = parse_cursor<1>(paging.cursor);
  if (!cursor) return tl::unexpected(cursor.error());
  IntervalPage page{.cursor = "0", .intervals = {}};
  const Domain* domain = find(name);
  if (domain == nullptr) return page;
  constexpr std::uint64_t kHighest = std::numeric_limits<std::int64_t>::max();
  const auto from = static_cast<std::int64_t>(*cursor ? std::min((**cursor)[0], kHighest) : 0);
  const auto& map = domain->processed.map();
  for (auto next = map.lower_bound(from); next != map.end(); ++next) {
    if (std::ssize(page.intervals) == paging.count) {
      page.cursor = cursor_text<1>({static_cast<std::uint64_t>(page.intervals.back().first.value) + 1});
      break;
    }
    page.intervals.push_back({Offset{next->first}, Offset{next->second}});
  }
  return page;
}

Result<DomainPage> WorkBook::list(const Paging& paging) const {
  DomainPage page;
  auto cursor = scan_page(domains_, paging, [&](const Domain& domain) {
    page.domains.push_back(domain.name);
    return true;
  });
  if (!cursor) return tl::unexpected(cursor.error());
  page.cursor = std::move(*cursor);
  return page;
}

}  // namespace tenure

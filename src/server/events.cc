#include "server/events.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/text.h"
#include "core/record_codec.h"
#include "wire/public_record.h"
#include "wire/word.h"

namespace tenure::server {
namespace {

// What browsers are asked to wait before they come again.
constexpr int kRetryMs = 1000;

// An id without data sets where a client goes on, and is no event.
std::string greeting(const EventId& at) { return fmt::format("retry: {}\nid: {}\n\n", kRetryMs, text_of(at)); }

std::string gap_text(const EventId& asked, const EventId& at) {
  return fmt::format("retry: {}\nid: {}\nevent: gap\ndata: {{\"asked_after\":\"{}\",\"resumed_after\":\"{}\"}}\n\n",
                     kRetryMs, text_of(at), text_of(asked), text_of(at));
}

}  // namespace

std::string text_of(const EventId& id) {
  return id.place == EventId::kLast ? std::to_string(id.frame) : fmt::format("{}.{}", id.frame, id.place);
}

std::optional<EventId> parse_event_id(std::string_view text) {
  const std::size_t dot = text.find('.');
  const auto frame = parse_decimal(text.substr(0, dot));
  if (!frame) return std::nullopt;
  if (dot == std::string_view::npos) return EventId{.frame = *frame};
  const auto place = parse_decimal(text.substr(dot + 1));
  if (!place || *place >= EventId::kLast) return std::nullopt;
  return EventId{.frame = *frame, .place = static_cast<std::uint32_t>(*place)};
}

void Events::begin(std::uint64_t after) {
  is_begun_ = true;
  dropped_ = newest_ = EventId{.frame = after};
}

void Events::end() {
  TENURE_CHECK(clients_.empty(), "{} listen", clients_.size());
  is_begun_ = false;
  kept_.clear();
  kept_.shrink_to_fit();
  bytes_ = passed_ = 0;
}

void Events::tell(std::uint64_t sequence, Instant stamp, std::string_view payload) {
  ByteReader in(payload);
  std::uint32_t place = 0;
  while (!in.at_end()) {
    const auto record = decode(in);
    TENURE_CHECK(record.has_value(), "frame {}: {}", sequence, record.error().message);
    const EventId id{.frame = sequence, .place = in.at_end() ? EventId::kLast : ++place};
    keep(id, fmt::format("id: {}\nevent: {}\ndata: {}\n\n", text_of(id), name_of(*record),
                         wire::public_json(*record, stamp)));
  }
}

void Events::keep(EventId id, std::string text) {
  newest_ = id;
  bytes_ += sizeof(Event) + text.capacity();
  kept_.push_back({id, std::move(text)});
  while (kept_.size() > limits_.kept || bytes_ > limits_.kept_bytes) {
    bytes_ -= sizeof(Event) + kept_.front().text.capacity();
    dropped_ = kept_.front().id;
    kept_.pop_front();
    ++passed_;
    if (kept_.empty()) break;
  }
}

std::uint64_t Events::first_after(const EventId& id) const {
  const auto found = std::upper_bound(kept_.begin(), kept_.end(), id,
                                      [](const EventId& asked, const Event& event) { return asked < event.id; });
  return passed_ + static_cast<std::uint64_t>(found - kept_.begin());
}

// An id from beyond the end is of another journal, or of one that was restored: nothing after it is known.
Result<std::unique_ptr<Events::Stream>> Events::listen(std::uint64_t client,
                                                       const std::optional<std::string>& last_id) {
  if (clients_.size() >= limits_.streams) {
    return fail_with(ErrorCode::kBackpressure, "event streams: expected fewer than {}, found {}", limits_.streams,
                     clients_.size());
  }
  if (!last_id || last_id->empty()) {
    return std::make_unique<Stream>(*this, client, first_after(newest_), greeting(newest_));
  }
  const auto asked = parse_event_id(*last_id);
  if (!asked) {
    return fail_with(ErrorCode::kErr, "Last-Event-ID: expected the id of an event, found {}", wire::quote(*last_id));
  }
  if (*asked < dropped_ || *asked > newest_) {
    return std::make_unique<Stream>(*this, client, passed_, gap_text(*asked, dropped_));
  }
  return std::make_unique<Stream>(*this, client, first_after(*asked), greeting(*asked));
}

Events::Stream::Stream(Events& events, std::uint64_t client, std::uint64_t next, std::string first)
    : events_(events), client_(client), next_(next), first_(std::move(first)) {
  events_.clients_.insert(client);
}

Events::Stream::~Stream() { events_.clients_.erase(client_); }

bool Events::Stream::read(std::string& out, std::size_t bytes) {
  out += std::exchange(first_, {});
  if (next_ < events_.passed_) return false;
  const std::uint64_t end = events_.passed_ + events_.kept_.size();
  while (next_ < end && out.size() < bytes) out += events_.kept_[next_++ - events_.passed_].text;
  return true;
}

}  // namespace tenure::server

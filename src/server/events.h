// What is recorded, as it becomes durable, for those who listen: server-sent events, the last so many of them kept for
// those who come again. No sockets.
//
// An event's id is its frame's number; where a frame has several records, those before the last have their place in it
// behind a dot: 17.1, 17.2, 17. So ids grow, and whoever says which was the last it saw is told neither too much nor
// too little. What is no longer kept is not passed over in silence: the first event is then `gap`.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/container/btree_set.h>

#include <tenure/types.h>
#include "base/result.h"

namespace tenure::server {

struct EventId {
  static constexpr std::uint32_t kLast = std::numeric_limits<std::uint32_t>::max();  // of its frame
  std::uint64_t frame = 0;
  std::uint32_t place = kLast;

  friend auto operator<=>(const EventId&, const EventId&) = default;
};
std::string text_of(const EventId& id);
std::optional<EventId> parse_event_id(std::string_view text);

// One thread.
class Events {
 public:
  struct Limits {
    std::uint64_t streams = 64;
    std::uint64_t kept = 65'536;
    std::uint64_t kept_bytes = std::uint64_t{16} << 20;
  };
  // One that listens. It reads from what is kept, so it costs no memory however slow it is; but what it has not read by
  // the time that is dropped it cannot read any more.
  class Stream {
   public:
    Stream(Events& events, std::uint64_t client, std::uint64_t next, std::string first);
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream();

    // Appends what it has not read, at most about so many bytes. False: it is too late for that.
    bool read(std::string& out, std::size_t bytes);

   private:
    Events& events_;
    const std::uint64_t client_;
    std::uint64_t next_;
    std::string first_;
  };

  explicit Events(const Limits& limits) : limits_(limits) {}
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events() = default;

  // Nothing is kept, and nobody listens, before this: what follows this frame will be told.
  void begin(std::uint64_t after);
  // Forgets everything. Nobody listens.
  void end();
  [[nodiscard]] bool is_begun() const { return is_begun_; }

  // The next frame that is durable.
  void tell(std::uint64_t sequence, Instant stamp, std::string_view payload);

  // From behind the event of this id, or from now on. The events outlive the stream.
  Result<std::unique_ptr<Stream>> listen(std::uint64_t client, const std::optional<std::string>& last_id);
  // The clients of those that listen.
  [[nodiscard]] const absl::btree_set<std::uint64_t>& clients() const { return clients_; }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  struct Event {
    EventId id;
    std::string text;
  };
  void keep(EventId id, std::string text);
  [[nodiscard]] std::uint64_t first_after(const EventId& id) const;

  const Limits limits_;
  bool is_begun_ = false;
  EventId dropped_;           // the last event that is not kept, or where it all began
  EventId newest_;            // the last of all
  std::deque<Event> kept_;    // in the order of their ids
  std::uint64_t passed_ = 0;  // how many came before those that are kept
  std::uint64_t bytes_ = 0;   // of what is kept
  absl::btree_set<std::uint64_t> clients_;
};

// What keeps a silent stream alive: a comment.
inline constexpr std::string_view kHeartbeat = ":\n\n";

}  // namespace tenure::server

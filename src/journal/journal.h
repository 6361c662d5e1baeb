// The journal: the totally ordered, durable sequence of frames. It knows sequence numbers and bytes, not tasks or
// locks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <absl/functional/function_ref.h>

#include <tenure/types.h>

namespace tenure {

// One decision: its records, encoded. All of it is replayed, or none.
struct Frame {
  std::uint64_t sequence = 0;  // consecutive, from 1
  Instant stamp;
  std::string_view payload;
};

class Journal {
 public:
  // Told, on whatever thread, how far the journal has got. Never called while `append` runs.
  class Listener {
   public:
    virtual ~Listener() = default;
    // Everything up to this frame is on stable storage.
    virtual void on_durable(std::uint64_t sequence) = 0;
    // Nothing more will become durable. What was appended and not yet reported may or may not have.
    virtual void on_failed(const std::string& why) = 0;
  };

  Journal() = default;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  virtual ~Journal() = default;

  // Reads what is there, from the beginning; the visitor answers false to stop. Before the first append.
  virtual void read(absl::FunctionRef<bool(const Frame&)> visit) const = 0;

  // Null: nobody; when that returns, no report from a thread of the journal's own is under way any more.
  virtual void listen(Listener* listener) = 0;

  // Takes a frame into memory and numbers it. Cheap: called with the authority's mutex held.
  virtual std::uint64_t append(Instant stamp, std::string_view payload) = 0;
  // How far it is known to be durable, without waiting. A journal that is durable at once needs no commit.
  [[nodiscard]] virtual std::uint64_t durable() const = 0;
  // Asks for everything appended to be made durable. Does not wait, but may report to the listener before it returns;
  // so it is called without the authority's mutex.
  virtual void commit() = 0;
};

}  // namespace tenure

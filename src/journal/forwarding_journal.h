// A journal that hands everything on to another one: for whoever wants to see, or change, a part of what goes by.
#pragma once

#include "journal/journal.h"

namespace tenure {

// As thread-safe as the one behind it, which outlives it.
class ForwardingJournal : public Journal {
 public:
  explicit ForwardingJournal(Journal& journal) : journal_(journal) {}

  Snapshots* snapshots() override { return journal_.snapshots(); }
  Result<Done> start(std::uint64_t after, Visit visit) override { return journal_.start(after, visit); }
  [[nodiscard]] Result<Done> read(FrameRange range, Visit visit) const override { return journal_.read(range, visit); }
  void listen(Listener* listener) override { journal_.listen(listener); }
  std::uint64_t append(std::uint64_t epoch, Instant stamp, std::string_view payload) override {
    return journal_.append(epoch, stamp, payload);
  }
  [[nodiscard]] std::uint64_t durable() const override { return journal_.durable(); }
  void commit() override { journal_.commit(); }
  bool commit_here() override { return journal_.commit_here(); }
  void commit_ahead() override { journal_.commit_ahead(); }
  Result<Done> close() override { return journal_.close(); }
  [[nodiscard]] bool has_room() const override { return journal_.has_room(); }
  [[nodiscard]] JournalFigures figures() const override { return journal_.figures(); }

 private:
  Journal& journal_;
};

}  // namespace tenure

// Calls of programs that use the client library: however often one is asked, because an answer was lost, it has one
// effect, and what it is told is true.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "breach.h"
#include "core/record.h"
#include "request.h"
#include "task_law.h"

namespace tenure::sim {

// One thread. Whatever breaks the law throws Breach.
class CallLaw {
 public:
  using Number = std::uint64_t;  // 0: none

  // --- the program ---
  // A program begins to ask for one thing; by what requests is the library's business.
  Number begin(const std::string& who);
  // It sends a request, perhaps several times. Nobody else sends the same.
  void ask(Number call, const std::string& who, const Request& request);
  // Its only request was given up, and is said not to have been sent.
  void end_unsent(Number call) const;
  // It is told that it has made this task, which is judged by `finish`.
  void end_submitted(Number call, const std::string& task_id) { calls_.find(call)->second.told = task_id; }

  // --- the server ---
  // A request of `who` arrives: the call it belongs to.
  Number arrive(const std::string& who, const Request& request);
  // It was sent on to another server, and nothing was done.
  void send_on(Number call) { --calls_.find(call)->second.arrivals; }
  // The next durable record that a request of the call led to.
  void see(Number call, const Record& record);
  // The grant that it led to could not be delivered, and was given back.
  void undo(Number call) { calls_.find(call)->second.effects = 0; }
  // The lock is not held by it any more: whoever acquired it may do so again.
  void end(Token token);
  // What is forgotten by its time may have a second effect.
  void forget(std::string_view request_id) { forgotten_.emplace(request_id); }
  // When every durable record has been seen.
  void finish() const;
  [[nodiscard]] bool has_effect(Number call) const { return calls_.find(call)->second.effects > 0; }

 private:
  struct Call {
    std::string who;
    std::string text;  // of the first request
    std::set<std::string> request_ids{};
    std::uint64_t requests = 0;
    std::uint64_t arrivals = 0;
    std::uint64_t effects = 0;
    std::optional<std::string> task{};  // that it has made,
    std::optional<std::string> told{};  // and that it is told of
  };

  [[nodiscard]] bool is_forgotten(const Call& call) const;
  void count(Call& call, std::string_view what) const;

  std::map<Number, Call> calls_;
  std::map<std::string, Number, std::less<>> by_text_;
  std::map<Token, std::vector<Number>, ByGrant> by_token_;  // acquisitions of locks that are held
  std::set<std::string, std::less<>> forgotten_;
};

}  // namespace tenure::sim

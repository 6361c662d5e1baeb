// The verbs of the lock book.
#include "answers.h"
#include "engine_subject.h"

namespace tenure::scenario {
namespace {

// The two words of a lock's name; its space is an option.
LockName next_lock(Arguments& args) {
  LockName lock;
  lock.domain = args.next("domain");
  lock.identifier = args.next("identifier");
  return lock;
}

void take_space(const Arguments& args, LockName& lock) { lock.space = args.text("SPACE").value_or(lock.space); }

Answer show(const std::optional<LockGrant>& grant) {
  if (!grant) return say("nil");
  return one_line({named("", grant->token), named("fence", grant->fence), named("remaining_ms", grant->remaining),
                   named("holds", grant->holds)});
}

AnswerLine show(const LockStatus& lock) {
  return {named("", fmt::format("{}::{}", lock.domain, lock.identifier)),
          named("owner", lock.owner),
          named("fence", lock.fence),
          named("holds", lock.holds),
          named("granted_at", lock.granted_at),
          named("expires_at", lock.expires_at),
          named("remaining_ms", lock.remaining),
          named("waiters", lock.waiters)};
}

}  // namespace

// BOUND names the session, and USER the user, that the wire has from the connection.
void EngineSubject::lock_acquire(Arguments& args, const Answered& done) {
  LockAcquire request;
  request.lock = next_lock(args);
  request.owner = args.next("owner");
  args.take_options({{"LEASE"}, {"WAIT"}, {"REQUEST"}, {"BOUND"}, {"SPACE"}, {"USER"}});
  take_space(args, request.lock);
  request.lease = args.duration("LEASE").value_or(request.lease);
  request.request_id = args.text("REQUEST");
  request.session = args.text("BOUND");
  request.user = args.text("USER");
  auto answer = answering<std::optional<LockGrant>>(done, [](const auto& reply) { return show(reply); });
  if (!args.has("WAIT")) return engine_->ask(request, std::move(answer));
  tickets_[label_] = engine_->wait(request, *args.duration("WAIT"), std::move(answer));
}

void EngineSubject::lock_release(Arguments& args, const Answered& done) {
  LockGiveBack request;
  request.lock = next_lock(args);
  request.token = args.next("token");
  args.take_options({{"REQUEST"}, {"SPACE"}});
  take_space(args, request.lock);
  request.request_id = args.text("REQUEST");
  engine_->ask(request, answering<std::uint32_t>(done, [](std::uint32_t holds) {
                 return say(holds == 0 ? "RELEASED 0" : fmt::format("HELD {}", holds));
               }));
}

// What the server does with a grant of whose reply not one byte was handed to the socket.
void EngineSubject::lock_undelivered(Arguments& args, const Answered& done) {
  LockGiveBack request;
  request.lock = next_lock(args);
  request.token = args.next("token");
  args.take_options({{"SPACE"}});
  take_space(args, request.lock);
  request.cause = ReleaseCause::kUndelivered;
  engine_->ask(request, answering<std::uint32_t>(done, [](std::uint32_t holds) {
                 return say(holds == 0 ? "RELEASED 0" : fmt::format("HELD {}", holds));
               }));
}

void EngineSubject::lock_extend(Arguments& args, const Answered& done) {
  LockExtension request;
  request.lock = next_lock(args);
  request.token = args.next("token");
  args.take_options({{"LEASE"}, {"SPACE"}});
  take_space(args, request.lock);
  request.lease = args.duration("LEASE");
  engine_->ask(request, answering<LockExtended>(done, [](const LockExtended& reply) {
                 return one_line({named("fence", reply.fence), named("remaining_ms", reply.remaining)});
               }));
}

void EngineSubject::lock_force(Arguments& args, const Answered& done) {
  LockForce request;
  request.lock = next_lock(args);
  args.take_options({{"FENCE"}, {"SPACE"}});
  take_space(args, request.lock);
  if (const auto fence = args.number("FENCE")) request.fence = Fence{static_cast<std::uint64_t>(*fence)};
  engine_->ask(request, answering<bool>(done, [](bool forced) { return say(forced ? "1" : "0"); }));
}

void EngineSubject::lock_get(Arguments& args, const Answered& done) {
  GetLock query{next_lock(args)};
  args.take_options({{"SPACE"}});
  take_space(args, query.lock);
  engine_->ask(query, answering<GetLock::Reply>(
                          done, [](const GetLock::Reply& lock) { return lock ? one_line(show(*lock)) : say("nil"); }));
}

void EngineSubject::lock_list(Arguments& args, const Answered& done) {
  ListLocks query;
  if (!args.at_end() && !args.is_next_option({{"COUNT"}, {"CURSOR"}, {"SPACE"}})) query.domain = args.next("domain");
  args.take_options({{"COUNT"}, {"CURSOR"}, {"SPACE"}});
  query.space = args.text("SPACE").value_or(query.space);
  query.paging = args.paging();
  engine_->ask(query, answering<LockPage>(done, [](const LockPage& page) {
                 std::vector<AnswerLine> lines;
                 lines.reserve(page.locks.size());
                 for (const LockStatus& lock : page.locks) lines.push_back(show(lock));
                 Answer answer = list_of(std::move(lines));
                 answer.cursor = page.cursor;
                 answer.in_order = false;
                 return answer;
               }));
}

}  // namespace tenure::scenario

#include "etcd/grpc_store.h"

#include <future>
#include <utility>

#include "etcd/grpc_call.h"
#include "etcd/grpc_watch.h"
#include "etcd/grpc_wire.h"

namespace tenure::etcd {
namespace {

// --- what is asked ---

pb::RangeRequest to_message(const Range& range) {
  pb::RangeRequest message;
  message.set_key(range.keys.begin);
  message.set_range_end(range.keys.end);
  message.set_limit(range.limit);
  message.set_serializable(range.is_serializable);
  message.set_keys_only(range.is_keys_only);
  // Ascending by key is etcd's own order: said so, it would sort.
  if (range.is_descending) message.set_sort_order(pb::RangeRequest::DESCEND);
  return message;
}

void fill(pb::Compare& message, const Compare& condition) {
  message.set_key(condition.key);
  message.set_result(condition.is == Compare::Is::kEqual ? pb::Compare::EQUAL : pb::Compare::GREATER);
  if (condition.of == Compare::Of::kCreateRevision) {
    message.set_target(pb::Compare::CREATE);
    message.set_create_revision(condition.revision);
  } else {
    message.set_target(pb::Compare::MOD);
    message.set_mod_revision(condition.revision);
  }
}

pb::TxnRequest to_message(Txn txn) {
  pb::TxnRequest message;
  for (const Compare& condition : txn.conditions) fill(*message.add_compare(), condition);
  for (Put& put : txn.puts) {
    auto& one = *message.add_success()->mutable_request_put();
    one.set_key(std::move(put.key));
    one.set_value(std::move(put.value));
    one.set_lease(put.lease);
  }
  for (const KeyRange& keys : txn.deletes) {
    auto& one = *message.add_success()->mutable_request_delete_range();
    one.set_key(keys.begin);
    one.set_range_end(keys.end);
  }
  for (const Range& range : txn.otherwise) *message.add_failure()->mutable_request_range() = to_message(range);
  return message;
}

std::int64_t seconds_of(Millis ttl) { return std::chrono::ceil<std::chrono::seconds>(ttl).count(); }

// --- what is answered ---

RangeAnswer from_message(pb::RangeResponse& message) {
  RangeAnswer answer{.has_more = message.more(), .revision = message.header().revision()};
  answer.found.reserve(static_cast<std::size_t>(message.kvs_size()));
  for (pb::KeyValue& pair : *message.mutable_kvs()) {
    answer.found.push_back({.key = std::move(*pair.mutable_key()),
                            .value = std::move(*pair.mutable_value()),
                            .create_revision = pair.create_revision(),
                            .mod_revision = pair.mod_revision(),
                            .lease = pair.lease()});
  }
  return answer;
}

TxnAnswer from_message(pb::TxnResponse& message) {
  TxnAnswer answer{.is_done = message.succeeded(), .revision = message.header().revision()};
  if (answer.is_done) return answer;
  for (pb::ResponseOp& one : *message.mutable_responses()) {
    answer.otherwise.push_back(from_message(*one.mutable_response_range()));
    // A read inside of a transaction has no header of its own.
    answer.otherwise.back().revision = answer.revision;
  }
  return answer;
}

Lease to_lease(LeaseId id, std::int64_t seconds) { return {.id = id, .ttl = std::chrono::seconds(seconds)}; }

bool is_not_found(const grpc::Status& status) { return status.error_code() == grpc::StatusCode::NOT_FOUND; }

// Calls once after a while.
class Pause final : public Step {
 public:
  Pause(GrpcWire& wire, std::function<void()> call) : wire_(wire), call_(std::move(call)) {}
  void begin(Millis delay) {
    grpc::CompletionQueue& queue = wire_.queue();
    wire_.hand_over();
    alarm_.Set(&queue, deadline_in(delay), this);
  }
  void proceed(bool is_ok) override {
    if (is_ok && !wire_.is_closing()) call_();
    wire_.exit(*this);
  }
  void cancel() override { alarm_.Cancel(); }

 private:
  GrpcWire& wire_;
  const std::function<void()> call_;
  grpc::Alarm alarm_;
};

// Waits for what is told; what is never told, as the store was being closed, is trouble.
template <class T>
class Waiting {
 public:
  Tell<T> tell() {
    return [promise = promise_](Answer<T> answer) { promise->set_value(std::move(answer)); };
  }
  Answer<T> wait() {
    auto answer = promise_->get_future();
    promise_.reset();
    try {
      return answer.get();
    } catch (const std::future_error&) {
      return tl::unexpected(Trouble{.outcome = Trouble::Outcome::kNothing, .why = "etcd is not asked any more"});
    }
  }

 private:
  std::shared_ptr<std::promise<Answer<T>>> promise_ = std::make_shared<std::promise<Answer<T>>>();
};

}  // namespace

GrpcStore::GrpcStore(Options options) : wire_(std::make_unique<GrpcWire>(options)) {}
GrpcStore::~GrpcStore() = default;

void GrpcStore::txn(Txn txn, Millis timeout, Tell<TxnAnswer> tell) {
  Call<pb::TxnRequest, pb::TxnResponse>::begin(
      *wire_, to_message(std::move(txn)),
      [](GrpcMember& member, grpc::ClientContext* context, const pb::TxnRequest& ask, grpc::CompletionQueue* queue) {
        return member.kv.AsyncTxn(context, ask, queue);
      },
      Repeat::kNever, timeout,
      [tell = std::move(tell)](const grpc::Status& status, pb::TxnResponse& reply) {
        if (!status.ok()) return tell(tl::unexpected(trouble_of(status)));
        tell(from_message(reply));
      });
}

void GrpcStore::range(Range range, Millis timeout, Tell<RangeAnswer> tell) {
  Call<pb::RangeRequest, pb::RangeResponse>::begin(
      *wire_, to_message(range),
      [](GrpcMember& member, grpc::ClientContext* context, const pb::RangeRequest& ask, grpc::CompletionQueue* queue) {
        return member.kv.AsyncRange(context, ask, queue);
      },
      Repeat::kAlways, timeout,
      [tell = std::move(tell)](const grpc::Status& status, pb::RangeResponse& reply) {
        if (!status.ok()) return tell(tl::unexpected(trouble_of(status)));
        tell(from_message(reply));
      });
}

void GrpcStore::compact(Revision revision, Millis timeout, Tell<Revision> tell) {
  pb::CompactionRequest message;
  message.set_revision(revision);
  Call<pb::CompactionRequest, pb::CompactionResponse>::begin(
      *wire_, std::move(message),
      [](GrpcMember& member, grpc::ClientContext* context, const pb::CompactionRequest& ask,
         grpc::CompletionQueue* queue) { return member.kv.AsyncCompact(context, ask, queue); },
      Repeat::kAlways, timeout,
      [revision, tell = std::move(tell)](const grpc::Status& status, pb::CompactionResponse& /*reply*/) {
        // Somebody else has done so already.
        const bool is_done = status.ok() || status.error_code() == grpc::StatusCode::OUT_OF_RANGE;
        if (!is_done) return tell(tl::unexpected(trouble_of(status)));
        tell(revision);
      });
}

void GrpcStore::grant(Millis ttl, Millis timeout, Tell<Lease> tell) {
  pb::LeaseGrantRequest message;
  message.set_ttl(seconds_of(ttl));
  Call<pb::LeaseGrantRequest, pb::LeaseGrantResponse>::begin(
      *wire_, std::move(message),
      [](GrpcMember& member, grpc::ClientContext* context, const pb::LeaseGrantRequest& ask,
         grpc::CompletionQueue* queue) { return member.lease.AsyncLeaseGrant(context, ask, queue); },
      // One whose answer was lost expires by itself.
      Repeat::kAlways, timeout,
      [tell = std::move(tell)](const grpc::Status& status, pb::LeaseGrantResponse& reply) {
        if (!status.ok()) return tell(tl::unexpected(trouble_of(status)));
        tell(to_lease(reply.id(), reply.ttl()));
      });
}

void GrpcStore::keep_alive(LeaseId lease, Millis timeout, Tell<Lease> tell) {
  pb::LeaseKeepAliveRequest message;
  message.set_id(lease);
  Call<pb::LeaseKeepAliveRequest, pb::LeaseKeepAliveResponse>::begin(
      *wire_, std::move(message),
      [](GrpcMember& member, grpc::ClientContext* context, const pb::LeaseKeepAliveRequest& ask,
         grpc::CompletionQueue* queue) { return member.lease.AsyncLeaseKeepAlive(context, ask, queue); },
      Repeat::kAlways, timeout,
      [lease, tell = std::move(tell)](const grpc::Status& status, pb::LeaseKeepAliveResponse& reply) {
        if (is_not_found(status)) return tell(to_lease(lease, 0));
        if (!status.ok()) return tell(tl::unexpected(trouble_of(status)));
        tell(to_lease(lease, reply.ttl()));
      });
}

void GrpcStore::revoke(LeaseId lease, Millis timeout, Tell<LeaseId> tell) {
  pb::LeaseRevokeRequest message;
  message.set_id(lease);
  Call<pb::LeaseRevokeRequest, pb::LeaseRevokeResponse>::begin(
      *wire_, std::move(message),
      [](GrpcMember& member, grpc::ClientContext* context, const pb::LeaseRevokeRequest& ask,
         grpc::CompletionQueue* queue) { return member.lease.AsyncLeaseRevoke(context, ask, queue); },
      Repeat::kAlways, timeout,
      [lease, tell = std::move(tell)](const grpc::Status& status, pb::LeaseRevokeResponse& /*reply*/) {
        if (!status.ok() && !is_not_found(status)) return tell(tl::unexpected(trouble_of(status)));
        tell(lease);
      });
}

std::unique_ptr<Watch> GrpcStore::watch(KeyRange keys, Revision from, TellNews tell) {
  return GrpcWatch::begin(*wire_, std::move(keys), from, std::move(tell));
}

void GrpcStore::status(Millis timeout, Tell<Status> tell) {
  Call<pb::StatusRequest, pb::StatusResponse>::begin(
      *wire_, {},
      [](GrpcMember& member, grpc::ClientContext* context, const pb::StatusRequest& ask, grpc::CompletionQueue* queue) {
        return member.maintenance.AsyncStatus(context, ask, queue);
      },
      Repeat::kAlways, timeout,
      [tell = std::move(tell)](const grpc::Status& status, pb::StatusResponse& reply) {
        if (!status.ok()) return tell(tl::unexpected(trouble_of(status)));
        tell(Status{.version = reply.version(),
                    .db_bytes = static_cast<std::uint64_t>(reply.dbsize()),
                    .db_bytes_in_use = static_cast<std::uint64_t>(reply.dbsizeinuse()),
                    .has_leader = reply.leader() != 0});
      });
}

void GrpcStore::after(Millis delay, std::function<void()> call) {
  auto pause = std::make_unique<Pause>(*wire_, std::move(call));
  if (wire_->enter(*pause)) pause.release()->begin(delay);
}

Answer<RangeAnswer> GrpcStore::range_now(Range asked, Millis timeout) {
  Waiting<RangeAnswer> waiting;
  range(std::move(asked), timeout, waiting.tell());
  return waiting.wait();
}

Answer<TxnAnswer> GrpcStore::txn_now(Txn asked, Millis timeout) {
  Waiting<TxnAnswer> waiting;
  txn(std::move(asked), timeout, waiting.tell());
  return waiting.wait();
}

}  // namespace tenure::etcd

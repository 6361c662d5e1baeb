// The members of an etcd cluster, the queue of what has ended, and the thread that serves it. For the sources whose
// names begin with grpc alone: compiling gRPC is slow.
#pragma once

#include <atomic>
#include <etcd.grpc.pb.h>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include "base/mutex.h"
#include "etcd/grpc_store.h"

namespace tenure::etcd {

namespace pb = etcdserverpb;

// Something under way that the queue tells of when it ends. Owned by itself; runs on the queue's thread, once begun.
class Step {
 public:
  Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  virtual ~Step() = default;
  virtual void proceed(bool is_ok) = 0;
  virtual void cancel() = 0;
};

struct GrpcMember {
  explicit GrpcMember(const std::shared_ptr<grpc::Channel>& channel)
      : kv(channel), lease(channel), watch(channel), maintenance(channel), auth(channel) {}
  pb::KV::Stub kv;
  pb::Lease::Stub lease;
  pb::Watch::Stub watch;
  pb::Maintenance::Stub maintenance;
  pb::Auth::Stub auth;
};

gpr_timespec deadline_in(Millis time);

// Thread-safe.
class GrpcWire {
 public:
  explicit GrpcWire(const GrpcStore::Options& options);
  // Cancels what is under way, and waits until all of it has ended.
  ~GrpcWire();
  GrpcWire(const GrpcWire&) = delete;
  GrpcWire& operator=(const GrpcWire&) = delete;

  grpc::CompletionQueue& queue() { return queue_; }
  [[nodiscard]] std::size_t members() const { return members_.size(); }
  GrpcMember& member(std::size_t which) { return *members_[which]; }
  // The one to ask now.
  [[nodiscard]] std::size_t preferred() const { return preferred_.load(); }
  // Asks the next one from now on, if it is this one that is asked.
  void leave(std::size_t which) { preferred_.compare_exchange_strong(which, (which + 1) % members_.size()); }

  // False: it is being closed, and nothing new is begun.
  [[nodiscard]] bool enter(Step& step);
  [[nodiscard]] bool is_closing() const;
  // The last thing before a step is given to gRPC, whose queue brings it to another thread: gRPC makes that safe, but
  // is not built with the thread sanitizer, which would see a race.
  void hand_over() { handed_over_.fetch_add(1, std::memory_order_release); }
  // Destroys the step.
  void exit(Step& step);

  [[nodiscard]] bool needs_token() const;
  [[nodiscard]] std::string token() const;
  void set_token(std::string token);
  // If it is still this one: another call may have a newer one already.
  void forget_token(const std::string& token);
  [[nodiscard]] const std::string& user() const { return user_; }
  [[nodiscard]] const std::string& password() const { return password_; }

 private:
  class Closing;
  void run();
  void cancel_all();

  const std::string user_;
  const std::string password_;
  std::vector<std::unique_ptr<GrpcMember>> members_;
  std::atomic<std::size_t> preferred_{0};
  std::atomic<std::uint64_t> handed_over_{0};
  grpc::CompletionQueue queue_;

  mutable Mutex mutex_;
  Condition emptied_;
  std::set<Step*> steps_ TENURE_GUARDED_BY(mutex_);
  bool is_closing_ TENURE_GUARDED_BY(mutex_) = false;
  std::string token_ TENURE_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace tenure::etcd

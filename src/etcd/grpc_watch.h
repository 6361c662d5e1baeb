// A watch of an etcd member. For the sources whose names begin with grpc alone.
#pragma once

#include <memory>
#include <string>

#include "base/mutex.h"
#include "etcd/grpc_wire.h"

namespace tenure::etcd {

// One step after the other: begin, ask, and read until it ends.
class GrpcWatch final : public Step {
 public:
  // The watch ends it.
  static std::unique_ptr<Watch> begin(GrpcWire& wire, KeyRange keys, Revision from, TellNews tell);

  void proceed(bool is_ok) override;
  void cancel() override { context_.TryCancel(); }

 private:
  enum class Phase : std::uint8_t { kBeginning, kAsking, kReading, kEnding };
  class Handle;
  // Between the watch's owner and the step, either of which may be the first to go.
  struct Link {
    Mutex mutex;
    GrpcWatch* step TENURE_GUARDED_BY(mutex) = nullptr;
  };

  GrpcWatch(GrpcWire& wire, KeyRange keys, Revision from, TellNews tell, std::shared_ptr<Link> link);
  void sign_in();
  void call();
  // False: it was the last one.
  bool take();
  void end(const grpc::Status& status);

  GrpcWire& wire_;
  const KeyRange keys_;
  const Revision from_;
  const TellNews tell_;
  const std::shared_ptr<Link> link_;
  std::size_t member_ = 0;
  std::string token_;
  Phase phase_ = Phase::kBeginning;
  bool is_told_trouble_ = false;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<pb::WatchRequest, pb::WatchResponse>> stream_;
  pb::WatchRequest ask_;
  pb::WatchResponse reply_;
  grpc::Status status_;
};

}  // namespace tenure::etcd

#include "etcd/grpc_watch.h"

#include <utility>

#include <fmt/format.h>

#include "etcd/grpc_call.h"

namespace tenure::etcd {
namespace {

constexpr Millis kSignInPatience{5'000};

Event event_of(pb::Event& event) {
  pb::KeyValue& pair = *event.mutable_kv();
  return {.kind = event.type() == pb::Event::DELETE ? Event::Kind::kDelete : Event::Kind::kPut,
          .pair = {.key = std::move(*pair.mutable_key()),
                   .value = std::move(*pair.mutable_value()),
                   .create_revision = pair.create_revision(),
                   .mod_revision = pair.mod_revision(),
                   .lease = pair.lease()}};
}

}  // namespace

class GrpcWatch::Handle final : public Watch {
 public:
  explicit Handle(std::shared_ptr<Link> link) : link_(std::move(link)) {}
  ~Handle() override {
    const MutexLock lock(link_->mutex);
    if (GrpcWatch* const step = std::exchange(link_->step, nullptr)) step->context_.TryCancel();
  }

 private:
  const std::shared_ptr<Link> link_;
};

GrpcWatch::GrpcWatch(GrpcWire& wire, KeyRange keys, Revision from, TellNews tell, std::shared_ptr<Link> link)
    : wire_(wire), keys_(std::move(keys)), from_(from), tell_(std::move(tell)), link_(std::move(link)) {}

std::unique_ptr<Watch> GrpcWatch::begin(GrpcWire& wire, KeyRange keys, Revision from, TellNews tell) {
  auto link = std::make_shared<Link>();
  std::unique_ptr<GrpcWatch> step(new GrpcWatch(wire, std::move(keys), from, std::move(tell), link));
  if (wire.enter(*step)) {
    {
      const MutexLock lock(link->mutex);
      link->step = step.get();
    }
    GrpcWatch& begun = *step.release();
    wire.needs_token() ? begun.sign_in() : begun.call();
  }
  return std::make_unique<Handle>(std::move(link));
}

void GrpcWatch::sign_in() {
  SignIn::begin(wire_, wire_.preferred(), deadline_in(kSignInPatience),
                [this](const grpc::Status& status) { status.ok() ? call() : end(status); });
}

void GrpcWatch::call() {
  member_ = wire_.preferred();
  token_ = wire_.token();
  if (!token_.empty()) context_.AddMetadata("token", token_);
  // A member that is cut off from the others ends it, instead of telling nothing.
  context_.AddMetadata("hasleader", "true");
  stream_ = wire_.member(member_).watch.PrepareAsyncWatch(&context_, &wire_.queue());
  auto& stream = *stream_;
  wire_.hand_over();
  stream.StartCall(this);
}

void GrpcWatch::proceed(bool is_ok) {
  if (phase_ == Phase::kEnding) return end(status_);
  if (is_ok && phase_ == Phase::kBeginning) {
    phase_ = Phase::kAsking;
    auto& watch = *ask_.mutable_create_request();
    watch.set_key(keys_.begin);
    watch.set_range_end(keys_.end);
    watch.set_start_revision(from_);
    return stream_->Write(ask_, this);
  }
  if (is_ok && phase_ == Phase::kAsking) {
    phase_ = Phase::kReading;
    return stream_->Read(&reply_, this);
  }
  if (is_ok && take()) return stream_->Read(&reply_, this);
  phase_ = Phase::kEnding;
  context_.TryCancel();
  stream_->Finish(&status_, this);
}

bool GrpcWatch::take() {
  {
    const MutexLock lock(link_->mutex);
    if (link_->step == nullptr) return false;
  }
  if (reply_.canceled()) {
    is_told_trouble_ = true;
    wire_.forget_token(token_);  // etcd does not say whether it was that
    tell_(tl::unexpected(Trouble{.why = fmt::format("etcd has ended a watch: {}", reply_.cancel_reason()),
                                 .compacted = reply_.compact_revision()}));
    return false;
  }
  if (reply_.events().empty()) return true;
  News news{.revision = reply_.header().revision()};
  news.events.reserve(static_cast<std::size_t>(reply_.events_size()));
  for (pb::Event& event : *reply_.mutable_events()) news.events.push_back(event_of(event));
  tell_(std::move(news));
  return true;
}

void GrpcWatch::end(const grpc::Status& status) {
  bool is_watched = false;
  {
    const MutexLock lock(link_->mutex);
    is_watched = std::exchange(link_->step, nullptr) != nullptr;
  }
  if (is_watched) {
    wire_.leave(member_);
    if (is_token_refused(status)) wire_.forget_token(token_);
    if (!is_told_trouble_) tell_(tl::unexpected(trouble_of(status)));
  }
  wire_.exit(*this);
}

}  // namespace tenure::etcd

#include "etcd/grpc_wire.h"

#include <grpc/support/log.h>
#include <grpc/support/time.h>

namespace tenure::etcd {
namespace {

// A member that does not answer is found out by these, when nothing else is said; etcd refuses more than one in 5 s.
constexpr int kPingEveryMs = 10'000;
constexpr int kPingPatienceMs = 5'000;
constexpr int kReconnectFirstMs = 100;
constexpr int kReconnectMaxMs = 1'000;

// A library says nothing on its own.
void log_nothing(gpr_log_func_args* /*line*/) {}

std::shared_ptr<grpc::ChannelCredentials> credentials_of(const GrpcStore::Options& options) {
  if (!options.is_tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = options.tls.ca;
  tls.pem_cert_chain = options.tls.certificate;
  tls.pem_private_key = options.tls.key;
  return grpc::SslCredentials(tls);
}

grpc::ChannelArguments channel_arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingEveryMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingPatienceMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectFirstMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  // Whoever asks decides whether to ask again, and goes to the member directly.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

}  // namespace

gpr_timespec deadline_in(Millis time) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(time.count(), GPR_TIMESPAN));
}

// Cancels on the queue's thread, where nothing else happens to the steps meanwhile.
class GrpcWire::Closing final : public Step {
 public:
  explicit Closing(GrpcWire& wire) : wire_(wire) {
    wire_.hand_over();
    alarm_.Set(&wire_.queue_, deadline_in(Millis{0}), this);
  }
  void proceed(bool /*is_ok*/) override { wire_.cancel_all(); }
  void cancel() override {}

 private:
  GrpcWire& wire_;
  grpc::Alarm alarm_;
};

GrpcWire::GrpcWire(const GrpcStore::Options& options) : user_(options.user), password_(options.password) {
  gpr_set_log_function(log_nothing);
  const auto credentials = credentials_of(options);
  for (const std::string& address : options.members) {
    members_.push_back(
        std::make_unique<GrpcMember>(grpc::CreateCustomChannel(address, credentials, channel_arguments())));
  }
  thread_ = std::thread([this] { run(); });
}

GrpcWire::~GrpcWire() {
  Closing closing(*this);
  {
    const MutexLock lock(mutex_);
    is_closing_ = true;
    while (!steps_.empty()) emptied_.wait(mutex_);
  }
  queue_.Shutdown();
  thread_.join();
}

void GrpcWire::run() {
  void* step = nullptr;
  bool is_ok = false;
  while (queue_.Next(&step, &is_ok)) {
    (void)handed_over_.load(std::memory_order_acquire);
    static_cast<Step*>(step)->proceed(is_ok);
  }
}

void GrpcWire::cancel_all() {
  const MutexLock lock(mutex_);
  is_closing_ = true;
  for (Step* const step : steps_) step->cancel();
}

bool GrpcWire::enter(Step& step) {
  const MutexLock lock(mutex_);
  if (is_closing_) return false;
  steps_.insert(&step);
  return true;
}

void GrpcWire::exit(Step& step) {
  const std::unique_ptr<Step> last(&step);
  const MutexLock lock(mutex_);
  steps_.erase(&step);
  if (steps_.empty()) emptied_.notify_all();
}

bool GrpcWire::is_closing() const {
  const MutexLock lock(mutex_);
  return is_closing_;
}

bool GrpcWire::needs_token() const {
  const MutexLock lock(mutex_);
  return !user_.empty() && token_.empty();
}

std::string GrpcWire::token() const {
  const MutexLock lock(mutex_);
  return token_;
}

void GrpcWire::set_token(std::string token) {
  const MutexLock lock(mutex_);
  token_ = std::move(token);
}

void GrpcWire::forget_token(const std::string& token) {
  const MutexLock lock(mutex_);
  if (token_ == token) token_.clear();
}

}  // namespace tenure::etcd

// tenure-etcd-locks: takes and gives back etcd's own locks (its services Lock and Unlock) over so many connections, for
// some seconds, and prints what was measured as a line of JSON, as tenure-load does.
//
// A connection is a channel with subchannels of its own: otherwise gRPC would send what goes to one member through one
// connection. It goes to the members in turn, has one lease for all of the run, and one lock that nobody else wants.
// Two threads serve them all, each its half: on two cores one did 2,060 cycles/s, two 2,360, eight 2,160.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <etcd.grpc.pb.h>
#include <etcd_lock.grpc.pb.h>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <grpcpp/grpcpp.h>

namespace {

using Clock = std::chrono::system_clock;  // the one that gRPC takes deadlines of
using std::chrono::duration_cast;

constexpr auto kPatience = std::chrono::seconds(10);
constexpr std::int64_t kLeaseSeconds = 3600;

struct Plan {
  std::vector<std::string> members;
  std::size_t connections = 200;
  std::size_t threads = 2;
  double seconds = 3;
  double warm_up_seconds = 0.5;
};

// What counts are the cycles that end in here.
struct Window {
  Clock::time_point begin;
  Clock::time_point end;
};

void expect_ok(const grpc::Status& status, const char* what) {
  if (!status.ok()) throw std::runtime_error(fmt::format("{}: {}", what, status.error_message()));
}

std::shared_ptr<grpc::Channel> connect(const std::string& member) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(member, grpc::InsecureChannelCredentials(), arguments);
}

// One connection: acquires and releases, again and again. One thread.
class Holder {
 public:
  Holder(const std::string& member, const std::string& name, grpc::CompletionQueue& queue)
      : queue_(queue), channel_(connect(member)), locks_(channel_) {
    etcdserverpb::Lease::Stub leases(channel_);
    etcdserverpb::LeaseGrantRequest ask;
    etcdserverpb::LeaseGrantResponse reply;
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(Clock::now() + kPatience);
    ask.set_ttl(kLeaseSeconds);
    expect_ok(leases.LeaseGrant(&context, ask, &reply), "LeaseGrant");
    acquire_.set_name(name);
    acquire_.set_lease(reply.id());
  }

  void begin() {
    begun_ = Clock::now();
    is_held_ = false;
    acquired_ = locks_.AsyncLock(&next_context(), acquire_, &queue_);
    acquired_->Finish(&grant_, &status_, this);
  }

  // An answer has come. How long the cycle took; nullopt: it is not over.
  std::optional<Clock::duration> proceed() {
    expect_ok(status_, is_held_ ? "Unlock" : "Lock");
    if (is_held_) return Clock::now() - begun_;
    is_held_ = true;
    v3lockpb::UnlockRequest release;
    release.set_key(grant_.key());
    released_ = locks_.AsyncUnlock(&next_context(), release, &queue_);
    released_->Finish(&end_, &status_, this);
    return std::nullopt;
  }
  void cancel() {
    if (context_) context_->TryCancel();
  }

 private:
  grpc::ClientContext& next_context() {
    context_.emplace();
    context_->set_deadline(Clock::now() + kPatience);
    return *context_;
  }

  grpc::CompletionQueue& queue_;
  const std::shared_ptr<grpc::Channel> channel_;
  v3lockpb::Lock::Stub locks_;
  v3lockpb::LockRequest acquire_;
  Clock::time_point begun_;
  bool is_held_ = false;  // the answer to come is that to the release
  std::optional<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<v3lockpb::LockResponse>> acquired_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<v3lockpb::UnlockResponse>> released_;
  v3lockpb::LockResponse grant_;
  v3lockpb::UnlockResponse end_;
  grpc::Status status_;
};

// Some of the connections, and the thread that serves them.
class Crew {
 public:
  Crew(const Plan& plan, std::size_t first) {
    for (std::size_t i = first; i < plan.connections; i += plan.threads) {
      const std::string name = fmt::format("tenure-etcd-locks/{}-{}", getpid(), i);
      holders_.push_back(std::make_unique<Holder>(plan.members[i % plan.members.size()], name, queue_));
    }
  }
  // What is under way is given up.
  ~Crew() {
    for (const auto& holder : holders_) holder->cancel();
    queue_.Shutdown();
    void* holder = nullptr;
    bool is_ok = false;
    while (queue_.Next(&holder, &is_ok)) continue;
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // How long each cycle took, in nanoseconds.
  std::vector<std::uint64_t> run(Window window) {
    for (const auto& holder : holders_) holder->begin();
    std::size_t busy = holders_.size();
    std::vector<std::uint64_t> latencies_ns;
    void* tag = nullptr;
    bool is_ok = false;
    while (busy > 0 && queue_.Next(&tag, &is_ok)) {
      auto* const holder = static_cast<Holder*>(tag);
      const auto took = holder->proceed();
      if (!took) continue;
      const auto now = Clock::now();
      if (now >= window.begin && now < window.end) {
        latencies_ns.push_back(static_cast<std::uint64_t>(duration_cast<std::chrono::nanoseconds>(*took).count()));
      }
      now < window.end ? holder->begin() : void(--busy);
    }
    return latencies_ns;
  }

 private:
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<Holder>> holders_;
};

Clock::duration duration_of(double seconds) {
  return duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::vector<std::uint64_t> measure(const Plan& plan) {
  std::vector<std::unique_ptr<Crew>> crews;
  for (std::size_t i = 0; i < plan.threads; ++i) crews.push_back(std::make_unique<Crew>(plan, i));
  const auto begin = Clock::now() + duration_of(plan.warm_up_seconds);
  const Window window{begin, begin + duration_of(plan.seconds)};
  std::vector<std::future<std::vector<std::uint64_t>>> runs;
  for (const auto& crew : crews) {
    runs.push_back(std::async(std::launch::async, [&crew, window] { return crew->run(window); }));
  }
  std::vector<std::uint64_t> all;
  for (auto& run : runs) {
    const auto some = run.get();
    all.insert(all.end(), some.begin(), some.end());
  }
  if (all.empty()) throw std::runtime_error("expected cycles to be done, found none");
  std::ranges::sort(all);
  return all;
}

void print(const Plan& plan, const std::vector<std::uint64_t>& sorted_ns) {
  const auto microseconds = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  fmt::print(
      "{{\"peer\": \"etcd\", \"work\": \"lock\", \"connections\": {}, \"seconds\": {:.3f}, \"cycles\": {}, "
      "\"cycles_per_second\": {:.1f}, \"p50_us\": {:.1f}, \"p99_us\": {:.1f}, \"max_us\": {:.1f}}}\n",
      plan.connections, plan.seconds, sorted_ns.size(), static_cast<double>(sorted_ns.size()) / plan.seconds,
      microseconds(sorted_ns[sorted_ns.size() / 2]), microseconds(sorted_ns[sorted_ns.size() * 99 / 100]),
      microseconds(sorted_ns.back()));
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  CLI::App app("Takes and gives back etcd's own locks over many connections; prints a line of JSON.");
  app.add_option("--members", plan.members, "host:port,...")->delimiter(',')->required();
  app.add_option("--connections", plan.connections)->check(CLI::Range(1, 10'000))->capture_default_str();
  app.add_option("--threads", plan.threads)->check(CLI::Range(1, 64))->capture_default_str();
  app.add_option("--seconds", plan.seconds)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--warm-up", plan.warm_up_seconds, "seconds before those that count")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    print(plan, measure(plan));
  } catch (const std::exception& error) {
    fmt::print(stderr, "tenure-etcd-locks: {}\n", error.what());
    return 1;
  }
}

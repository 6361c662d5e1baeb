#include <filesystem>
#include <fstream>
#include <librdkafka/rdkafkacpp.h>
#include <list>
#include <stdexcept>

#include "base/temporary_folder.h"
#include "log.h"
#include "process.h"

namespace tenure::testing {
namespace {

constexpr int kTries = 5;
constexpr int kPatienceMs = 60'000;  // for hangs, not for speed
constexpr const char* kTopic = "orders";

// One process that is broker and controller.
constexpr std::string_view kSettings = R"(
process.roles=broker,controller
node.id=1
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
num.partitions=4
offsets.topic.replication.factor=1
log.cleaner.enable=false
)";

class Kafka final : public Log {
 public:
  Kafka() {
    if (!std::filesystem::exists(std::string(PEERS) + "/kafka/pom.xml")) {
      throw std::runtime_error("no Kafka: scripts/test_peers has not been run");
    }
    for (int i = 0; server_ == nullptr; ++i) try_start(i == kTries);
  }

  void fill(const std::vector<std::string>& domains, int entries) override {
    const auto producer = make_producer();
    for (const auto& domain : domains) {
      const int partition = std::stoi(domain.substr(domain.find('/') + 1));
      for (int i = 0; i < entries; ++i) {
        std::string text = payload(domain, Offset{i});
        const auto code = producer->produce(kTopic, partition, RdKafka::Producer::RK_MSG_COPY, text.data(), text.size(),
                                            nullptr, 0, 0, nullptr);
        if (code != RdKafka::ERR_NO_ERROR) throw std::runtime_error(RdKafka::err2str(code));
      }
    }
    const auto code = producer->flush(kPatienceMs);
    if (code != RdKafka::ERR_NO_ERROR) throw std::runtime_error("not all could be added: " + RdKafka::err2str(code));
  }

  [[nodiscard]] std::vector<std::string> domains() const override {
    return {"orders/0", "orders/1", "orders/2", "orders/3"};
  }
  [[nodiscard]] Offset first() const override { return {0}; }
  [[nodiscard]] std::vector<std::string> consumer(const std::string& tenured) const override {
    return {KAFKA, tenured, address()};
  }

 private:
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  [[nodiscard]] std::unique_ptr<RdKafka::Producer> make_producer() const {
    const std::unique_ptr<RdKafka::Conf> settings(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
    std::string error;
    settings->set("bootstrap.servers", address(), error);
    settings->set("log_level", "3", error);              // that the broker is still starting is no news
    settings->set("enable.idempotence", "true", error);  // no retry puts entries out of order, or in twice
    std::unique_ptr<RdKafka::Producer> producer(RdKafka::Producer::create(settings.get(), error));
    if (!producer) throw std::runtime_error(error);
    return producer;
  }

  // Ports may be somebody else's by the time they are used.
  void try_start(bool is_last) {
    port_ = free_port();
    const int controller = free_port();
    const TemporaryFolder& folder = folders_.emplace_back();
    const std::string settings = folder.path() + "/settings";
    const std::string log = folder.path() + "/log";
    std::ofstream(settings) << kSettings << "log.dirs=" << folder.path() << "/data\n"
                            << "controller.quorum.voters=1@127.0.0.1:" << controller << "\n"
                            << "listeners=PLAINTEXT://" << address() << ",CONTROLLER://127.0.0.1:" << controller << "\n"
                            << "advertised.listeners=PLAINTEXT://" << address() << "\n";
    Process format(java({"kafka.tools.StorageTool", "format", "-t", "AAAAAAAAAAAAAAAAAAAAAQ", "-c", settings}), log);
    if (format.wait() != 0) throw std::runtime_error("Kafka does not start:\n" + text_of_file(log));
    server_ = std::make_unique<Process>(java({"kafka.Kafka", settings}), log);
    try {
      await_listening(*server_, port_);
    } catch (const std::exception&) {
      if (is_last) throw std::runtime_error("Kafka does not start:\n" + text_of_file(log));
      server_.reset();
    }
  }

  static std::vector<std::string> java(const std::vector<std::string>& words) {
    std::vector<std::string> all = {"/usr/bin/env", "java", "-XX:TieredStopAtLevel=1",      "-XX:+UseSerialGC",
                                    "-Xmx256m",     "-cp",  std::string(PEERS) + "/kafka/*"};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }

  std::list<TemporaryFolder> folders_;  // of each try
  int port_ = 0;
  std::unique_ptr<Process> server_;
};

}  // namespace

bool can_have_kafka() { return !std::filesystem::exists(std::string(PEERS) + "/kafka-could-not-be-fetched"); }

std::unique_ptr<Log> make_kafka() { return std::make_unique<Kafka>(); }

}  // namespace tenure::testing

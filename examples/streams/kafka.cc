// Books the messages of Kafka's partitions, each in order: kafka <tenured> <broker> <topic>/<partition>...
//
// Who reads which partition, and from where, is the authority's to say: there is no consumer group, and no offset is
// committed to Kafka.
#include <charconv>
#include <librdkafka/rdkafkacpp.h>
#include <map>
#include <memory>
#include <stdexcept>

#include "consumer.h"

namespace {

void require(RdKafka::ErrorCode code) {
  if (code != RdKafka::ERR_NO_ERROR) throw std::runtime_error(RdKafka::err2str(code));
}

// orders/3 is partition 3 of orders.
std::pair<std::string, int> partition_of(const std::string& domain) {
  const std::size_t slash = domain.rfind('/');
  int partition = 0;
  const char* const end = domain.data() + domain.size();
  if (slash == std::string::npos || std::from_chars(domain.data() + slash + 1, end, partition).ptr != end) {
    throw std::runtime_error("expected <topic>/<partition>, found " + domain);
  }
  return {domain.substr(0, slash), partition};
}

std::unique_ptr<RdKafka::KafkaConsumer> connect(const std::string& broker) {
  const std::unique_ptr<RdKafka::Conf> settings(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
  std::string error;
  for (const auto& [name, value] : std::map<std::string, std::string>{{"bootstrap.servers", broker},
                                                                      {"group.id", "none"},
                                                                      {"enable.auto.commit", "false"},
                                                                      {"auto.offset.reset", "error"}}) {
    if (settings->set(name, value, error) != RdKafka::Conf::CONF_OK) throw std::runtime_error(error);
  }
  std::unique_ptr<RdKafka::KafkaConsumer> consumer(RdKafka::KafkaConsumer::create(settings.get(), error));
  if (!consumer) throw std::runtime_error(error);
  return consumer;
}

class KafkaPartitions final : public tenure::OrderedSource {
 public:
  KafkaPartitions(const std::string& broker, streams::Claims& claims, tenure::WorkLeases& work)
      : consumer_(connect(broker)), claims_(claims), work_(work) {}
  ~KafkaPartitions() override { consumer_->close(); }
  KafkaPartitions(const KafkaPartitions&) = delete;
  KafkaPartitions& operator=(const KafkaPartitions&) = delete;

  std::optional<tenure::OrderedItem> next(const std::stop_token& stop) override {
    while (!stop.stop_requested()) {
      if (const auto claimed = claims_.claim(); !claimed.empty()) take_up(claimed);
      const std::unique_ptr<RdKafka::Message> message(consumer_->consume(static_cast<int>(streams::kPause.count())));
      if (message->err() == RdKafka::ERR__TIMED_OUT) continue;
      require(message->err());
      const std::string domain = message->topic_name() + "/" + std::to_string(message->partition());
      next_.at(domain) = tenure::Offset{message->offset() + 1};
      return tenure::OrderedItem{
          domain, tenure::Offset{message->offset()}, {static_cast<const char*>(message->payload()), message->len()}};
    }
    return std::nullopt;
  }

 private:
  void take_up(const std::vector<std::string>& claimed) {
    for (const auto& domain : claimed) {
      next_.emplace(domain, streams::first_undone(work_, domain, tenure::Offset{0}));
    }
    std::vector<RdKafka::TopicPartition*> all;
    for (const auto& [domain, next] : next_) {
      const auto [topic, partition] = partition_of(domain);
      all.push_back(RdKafka::TopicPartition::create(topic, partition, next.value));
    }
    const RdKafka::ErrorCode code = consumer_->assign(all);
    RdKafka::TopicPartition::destroy(all);
    require(code);
  }

  const std::unique_ptr<RdKafka::KafkaConsumer> consumer_;
  streams::Claims& claims_;
  tenure::WorkLeases& work_;
  std::map<std::string, tenure::Offset> next_;  // by domain: what is read next
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s <tenured> <broker> <topic>/<partition>...\n", argv[0]);
    return 2;
  }
  return streams::consume(argv[1], {argv + 3, argv + argc}, [&](auto& claims, auto& work) {
    return std::make_unique<KafkaPartitions>(argv[2], claims, work);
  });
}

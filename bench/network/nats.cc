// NATS JetStream: a stream that forgets what is acknowledged, with one consumer that all connections pull from. Answers
// are messages to an inbox that each connection subscribes to.
#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "expect.h"
#include "speeches.h"

namespace tenure::bench {
namespace {

constexpr std::size_t kMessageBytes = 100;

enum class MessageStep { kPublishing, kPulling, kAcknowledging };

// A message as it is delivered: MSG <subject> <subscription> [reply subject] <bytes>, and its bytes.
struct Message {
  std::string_view reply_subject;
  std::string_view bytes;
};

Message read_message(std::string_view text) {
  expect(text.starts_with("MSG "), "a message", text);
  const std::size_t line = text.find("\r\n");
  std::vector<std::string_view> words;
  for (std::string_view rest = text.substr(0, line); !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    words.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  expect(words.size() == 4 || words.size() == 5, "MSG with three or four words", text);
  return {.reply_subject = words.size() == 5 ? words[3] : std::string_view(),
          .bytes = text.substr(line + 2, text.size() - line - 4)};
}

// One thread.
class NatsTask : public Speech {
 public:
  explicit NatsTask(const Plan& plan)
      : name_(fmt::format("bench{}", plan.run)),
        payload_(kMessageBytes, 'x'),
        next_subject_(fmt::format("$JS.API.CONSUMER.MSG.NEXT.{}.workers", name_)),
        steps_(plan.lanes()) {
    for (Lane lane = 0; lane < plan.lanes(); ++lane) inboxes_.push_back(inbox(lane));
  }

  // A line; behind MSG and HMSG, whose last word is their size, the bytes and the end of their line.
  [[nodiscard]] std::size_t find_end(std::string_view input) const override {
    const std::size_t line = input.find("\r\n");
    if (line == std::string_view::npos) return 0;
    if (!input.starts_with("MSG ") && !input.starts_with("HMSG ")) return line + 2;
    const std::string_view digits = input.substr(0, line).substr(input.rfind(' ', line) + 1);
    std::size_t bytes = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    expect(error == std::errc() && end == digits.data() + digits.size(), "a message's size", input);
    const std::size_t whole = line + 2 + bytes + 2;
    return input.size() < whole ? 0 : whole;
  }

  bool pass_over(std::string_view said, std::string& output) override {
    if (said == "PING\r\n") output += "PONG\r\n";
    return said == "PING\r\n" || said.starts_with("INFO ");
  }

  [[nodiscard]] std::string greeting(std::size_t connection) const override {
    return fmt::format(
        "CONNECT {{\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true}}\r\nSUB {} 1\r\n",
        inbox(connection));
  }

  [[nodiscard]] std::vector<std::string> preparations() const override {
    std::string stream;
    append_message(stream, fmt::format("$JS.API.STREAM.CREATE.{}", name_), inbox(0),
                   fmt::format("{{\"name\":\"{0}\",\"subjects\":[\"{0}\"],\"retention\":\"workqueue\","
                               "\"storage\":\"file\",\"num_replicas\":1}}",
                               name_));
    std::string consumer;
    append_message(consumer, fmt::format("$JS.API.CONSUMER.DURABLE.CREATE.{}.workers", name_), inbox(0),
                   fmt::format("{{\"stream_name\":\"{}\",\"config\":{{\"durable_name\":\"workers\","
                               "\"ack_policy\":\"explicit\",\"ack_wait\":30000000000,\"max_ack_pending\":10000}}}}",
                               name_));
    return {stream, consumer};
  }

  void take_preparation(std::string_view reply) override {
    const Message message = read_message(reply);
    expect(message.bytes.find("\"error\"") == std::string_view::npos, "something created", message.bytes);
  }

  void begin(Lane lane, Turn& turn) override {
    steps_[lane] = MessageStep::kPublishing;
    append_message(turn.ask(), name_, inboxes_[lane], payload_);
  }

  void take(Lane lane, std::string_view reply, Turn& turn) override {
    const Message message = read_message(reply);
    switch (steps_[lane]) {
      case MessageStep::kPublishing:
        expect(message.bytes.starts_with("{\"stream\":"), "a publication's acknowledgement", reply);
        steps_[lane] = MessageStep::kPulling;
        append_message(turn.ask(), next_subject_, inboxes_[lane], "{\"batch\":1}");
        return;
      case MessageStep::kPulling:
        expect(message.reply_subject.starts_with("$JS.ACK."), "a message to acknowledge", reply);
        steps_[lane] = MessageStep::kAcknowledging;
        append_message(turn.ask(), message.reply_subject, inboxes_[lane], "+ACK");
        return;
      case MessageStep::kAcknowledging:
        expect(message.bytes.empty(), "an empty answer to +ACK", reply);
        turn.finish();
    }
  }

 private:
  [[nodiscard]] std::string inbox(std::size_t connection) const {
    return fmt::format("_INBOX.{}.{}", name_, connection);
  }

  static void append_message(std::string& output, std::string_view subject, std::string_view reply_subject,
                             std::string_view bytes) {
    output += fmt::format("PUB {} {} {}\r\n{}\r\n", subject, reply_subject, bytes.size(), bytes);
  }

  std::string name_;  // of the stream and of its subject
  std::string payload_;
  std::string next_subject_;
  std::vector<std::string> inboxes_;  // by lane, which is by connection: each has one
  std::vector<MessageStep> steps_;    // by lane
};

}  // namespace

std::unique_ptr<Speech> make_nats_task(const Plan& plan) { return std::make_unique<NatsTask>(plan); }

}  // namespace tenure::bench

// What the tests of conversations share: a house for them, and a fixture that shows what is said in them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "authority/testing.h"
#include "wire/conversation.h"
#include "wire/testing.h"

namespace tenure::wire {

// A server that lets everybody do everything but shut it down, and knows everybody by one password.
class Guesthouse final : public Conversation::House {
 public:
  void on_answers(Conversation& /*conversation*/) override { ++told; }
  std::optional<Failure> refusal(const Conversation& conversation, const Verb& verb,
                                 const Request& /*request*/) override {
    if (conversation.is_stranger() && verb.permission != Permission::kAnyone) {
      return Failure{ErrorCode::kNoAuth, "expected a user"};
    }
    if (verb.name != "SHUTDOWN") return std::nullopt;
    return Failure{ErrorCode::kNoPerm, "expected an admin"};
  }
  void check(Conversation& /*conversation*/, const Credentials& credentials, Conversation::SignIn done) override {
    if (is_slow) {
      pending.push_back(std::move(done));
    } else if (credentials.password != "secret") {
      done(fail_with(ErrorCode::kNoAuth, "expected another password"));
    } else {
      done(user_named(credentials.user.value_or("default")));
    }
  }
  static Conversation::UserPointer user_named(std::string_view name) {
    users::User user{.name = std::string(name), .hash = "", .rights = {}};
    if (name == "root") user.rights.push_back({.role = users::Role::kAdmin});
    return std::make_shared<const users::User>(std::move(user));
  }
  void serve(Conversation& /*conversation*/, const Conversation::HouseRequests& request,
             Conversation::Promise promise) override {
    if (std::holds_alternative<MakeSnapshot>(request)) {
      later.push_back(std::move(promise));
    } else if (std::holds_alternative<DescribeServer>(request)) {
      std::move(promise).fulfil([](RespWriter& out) { out.value("tenure_version:0"); });
    }
  }

  void on_refusal(const Refusal& refusal) override {
    refusals.push_back(fmt::format("{} {}", to_string(refusal.code), refusal.verb));
  }

  [[nodiscard]] bool is_one_of_several() const override { return other.has_value(); }
  [[nodiscard]] std::optional<std::string> leader() const override { return other; }

  int told = 0;
  std::optional<std::string> other;  // node, of which this one knows
  std::vector<std::string> refusals;
  std::vector<Conversation::Promise> later;
  bool is_slow = false;
  std::vector<Conversation::SignIn> pending;
};

class ConversationTest : public ::testing::Test {
 protected:
  std::shared_ptr<Conversation> begin(Conversation::Terms terms = {}) {
    terms.client_id = ++clients_;
    terms.own_session = fmt::format("connection-{}", clients_);
    talks_.push_back(Conversation::begin(*world.engine, house, terms));
    return talks_.back();
  }
  void TearDown() override {
    for (const auto& talk : talks_) talk->close();
  }
  // What there is to send, with a blank for each CR LF; it is sent.
  static std::string heard(const std::shared_ptr<Conversation>& talk) {
    std::string bytes;
    talk->take_output(bytes);
    talk->delivered(bytes.size());
    return shown(bytes);
  }
  static std::string shown(std::string bytes) {
    for (std::size_t at = bytes.find("\r\n"); at != std::string::npos; at = bytes.find("\r\n"))
      bytes.replace(at, 2, " ");
    return bytes;
  }
  std::string say(const std::shared_ptr<Conversation>& talk, const std::string& lines) {
    talk->receive(lines + "\n");
    world.engine->hand_over();
    talk->go_on();
    world.engine->hand_over();
    return heard(talk);
  }

  World world;
  Guesthouse house;

 private:
  std::uint64_t clients_ = 0;
  std::vector<std::shared_ptr<Conversation>> talks_;
};

}  // namespace tenure::wire

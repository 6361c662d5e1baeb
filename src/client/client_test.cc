// The client against a server that the test plays: what it says, and what it does when connections break, answers are
// lost, or make no sense.
#include <future>
#include <stop_token>

#include <gmock/gmock.h>

#include "client/testing.h"

namespace tenure::client {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(ClientTest, SaysWhoItIs) {
  auto all = settings();
  all.user = "me";
  all.password = "secret";
  all.name = "n";
  client_ = make(all);
  auto status = start([&] { return client_->tasks().get("t"); });
  Peer peer = town_.next();
  EXPECT_EQ("HELLO|3|AUTH|me|secret|SETNAME|n", peer.greet());
  EXPECT_EQ("TASK.GET|t", peer.answer(kNil));
  EXPECT_EQ(std::nullopt, status.get());
}

TEST_F(ClientTest, ManyCallsAreInFlightAndAnsweredInOrder) {
  auto first = client_->tasks().submit_later({.queue = "q", .payload = "1"});
  auto second = client_->tasks().submit_later({.queue = "q", .payload = "2"});
  auto third = start([&] { return client_->work().inspect("d"); });
  Peer peer = town_.next_greeted();
  std::vector<std::string> heard = {peer.hear(), peer.hear(), peer.hear()};
  EXPECT_THAT(heard[0], StartsWith("TASK.SUBMIT|q|1|REQUEST|"));
  EXPECT_THAT(heard[1], StartsWith("TASK.SUBMIT|q|2|REQUEST|"));
  EXPECT_NE(value_of("REQUEST", heard[0]), value_of("REQUEST", heard[1]));
  const std::string replies = created("a") + created("b") + kNil;
  for (const char c : replies) peer.say({&c, 1});  // however it comes in pieces
  EXPECT_EQ("a", first.get().task_id);
  EXPECT_EQ("b", second.get().task_id);
  EXPECT_EQ(std::nullopt, third.get());
  EXPECT_THAT(town_.addresses(), ElementsAre("here:1"));
}

// --- lost answers ---

TEST_F(ClientTest, ALostAnswerIsAskedForAgainWithTheSameId) {
  auto submitted = start([&] { return client_->tasks().submit({.queue = "q", .payload = "p"}); });
  Peer first = town_.next_greeted();
  const std::string request = first.hear();
  first.hang_up();
  Peer second = town_.next_greeted();
  EXPECT_EQ(request, second.answer("*2\r\n" + bulk("t") + bulk("EXISTING")));
  EXPECT_TRUE(submitted.get().created);  // it was this call that created it
}

TEST_F(ClientTest, TheCallersOwnIdIsUsed) {
  auto submitted = start([&] { return client_->tasks().submit({.queue = "q", .payload = "p", .request_id = "mine"}); });
  Peer peer = town_.next_greeted();
  EXPECT_EQ("TASK.SUBMIT|q|p|REQUEST|mine", peer.answer("*2\r\n" + bulk("t") + bulk("EXISTING")));
  EXPECT_FALSE(submitted.get().created);
}

TEST_F(ClientTest, EveryCallThatTakesARequestIdHasOne) {
  std::vector<std::future<void>> calls;
  calls.push_back(start([&] { client_->tasks().lease({.worker = "w", .queues = {"q"}}); }));
  Peer peer = town_.next_greeted();
  EXPECT_NE("", value_of("REQUEST", peer.answer("*0\r\n")));
  calls.push_back(start([&] { client_->tasks().resubmit({.task_id = "t"}); }));
  EXPECT_NE("", value_of("REQUEST", peer.answer(created("u"))));
  calls.push_back(start([&] { client_->work().succeed({.domain = "d", .token = "t"}); }));
  EXPECT_NE("", value_of("REQUEST", peer.answer("*1\r\n" + bulk("NO_BACKLOG"))));
  calls.push_back(start([&] { client_->work().fail({.domain = "d", .token = "t"}); }));
  EXPECT_NE("", value_of("REQUEST", peer.answer("*1\r\n" + bulk("GIVE_UP_NO_BACKLOG"))));
  calls.push_back(start([&] { client_->locks().acquire({.lock = lock_, .owner = "o"}); }));
  EXPECT_NE("", value_of("REQUEST", peer.answer(kGrant)));
  calls.push_back(start([&] { client_->locks().release({.lock = lock_, .token = "t"}); }));
  EXPECT_NE("", value_of("REQUEST", peer.answer("*2\r\n" + bulk("RELEASED") + ":0\r\n")));
  for (auto& call : calls) call.get();
}

TEST_F(ClientTest, AKillWhoseAnswerIsLostIsUnknown) {
  auto killed =
      start([&] { return message_of<Unavailable>([&] { client_->tasks().kill({.task_id = "t", .reason = "r"}); }); });
  Peer peer = town_.next_greeted();
  EXPECT_EQ("TASK.KILL|t|r", peer.hear());
  peer.hang_up();
  EXPECT_THAT(killed.get(), HasSubstr("may or may not have happened"));
}

TEST_F(ClientTest, AKillThatWasNotSentIsSent) {
  auto killed = start([&] { client_->tasks().kill({.task_id = "t", .reason = "r"}); });
  town_.next().hang_up();
  Peer peer = town_.next_greeted();
  EXPECT_EQ("TASK.KILL|t|r", peer.answer("+OK\r\n"));
  killed.get();
}

TEST_F(ClientTest, WhatIsInFlightKeepsItsOrderWhenAskedAgain) {
  auto first = client_->tasks().submit_later({.queue = "q", .payload = "1"});
  auto second = client_->tasks().submit_later({.queue = "q", .payload = "2"});
  Peer broken = town_.next_greeted();
  broken.answer(created("a"));
  EXPECT_EQ("a", first.get().task_id);
  broken.hang_up();
  auto third = client_->tasks().submit_later({.queue = "q", .payload = "3"});
  Peer peer = town_.next_greeted();
  EXPECT_THAT(peer.answer(created("b")), StartsWith("TASK.SUBMIT|q|2"));
  EXPECT_THAT(peer.answer(created("c")), StartsWith("TASK.SUBMIT|q|3"));
  EXPECT_EQ("b", second.get().task_id);
  EXPECT_EQ("c", third.get().task_id);
}

TEST_F(ClientTest, AServerThatCannotAnswerIsAskedAgain) {
  auto submitted = start([&] { return client_->tasks().submit({.queue = "q", .payload = "p"}); });
  Peer first = town_.next_greeted();
  const std::string request = first.answer("-UNAVAILABLE stopping\r\n");
  Peer second = town_.next_greeted();
  EXPECT_EQ(request, second.answer(created("t")));
  EXPECT_EQ("t", submitted.get().task_id);
}

TEST_F(ClientTest, TriesUntilSomebodyIsThere) {
  town_.refuse(5);
  auto status = start([&] { return client_->tasks().get("t"); });
  Peer peer = town_.next_greeted();
  peer.answer(kNil);
  EXPECT_EQ(std::nullopt, status.get());
  EXPECT_EQ(6U, town_.addresses().size());
}

TEST_F(ClientTest, AsksTheOthersInTurn) {
  auto with_others = settings();
  with_others.others = {"there:2", "elsewhere:3"};
  client_ = make(with_others);
  town_.refuse(3);
  auto status = start([&] { return client_->tasks().get("t"); });
  Peer peer = town_.next_greeted();
  peer.answer(kNil);
  status.get();
  EXPECT_THAT(town_.addresses(), ElementsAre("here:1", "there:2", "elsewhere:3", "here:1"));
}

TEST_F(ClientTest, WhoCannotAnswerIsLeftForTheOthers) {
  auto with_others = settings();
  with_others.others = {"there:2"};
  client_ = make(with_others);
  auto submitted = start([&] { return client_->tasks().submit({.queue = "q", .payload = "p"}); });
  Peer first = town_.next_greeted();
  const std::string request = first.answer("-UNAVAILABLE no node is known to lead\r\n");
  EXPECT_EQ(request, town_.next_greeted().answer(created("t")));
  EXPECT_EQ("t", submitted.get().task_id);
  EXPECT_THAT(town_.addresses(), ElementsAre("here:1", "there:2"));
}

TEST_F(ClientTest, WhoeverWasTheLeaderIsLeftWhenItIsGone) {
  auto with_others = settings();
  with_others.others = {"there:2"};
  client_ = make(with_others);
  auto submitted = start([&] { return client_->tasks().submit({.queue = "q", .payload = "p"}); });
  const std::string request = town_.next_greeted().answer("-MOVED 0 leader:9\r\n");
  town_.next_greeted().answer("-UNAVAILABLE this node leads no more\r\n");
  EXPECT_EQ(request, town_.next_greeted().answer("-MOVED 0 next:9\r\n"));
  EXPECT_EQ(request, town_.next_greeted().answer(created("t")));
  EXPECT_EQ("t", submitted.get().task_id);
  EXPECT_THAT(town_.addresses(), ElementsAre("here:1", "leader:9", "there:2", "next:9"));
}

// --- other servers ---

TEST_F(ClientTest, FollowsToWhoLeads) {
  auto killed = start([&] { client_->tasks().kill({.task_id = "t", .reason = "r"}); });
  Peer first = town_.next_greeted();
  first.answer("-MOVED 0 leader:9\r\n");
  Peer second = town_.next_greeted();
  EXPECT_EQ("TASK.KILL|t|r", second.answer("+OK\r\n"));  // nothing was done before: it may be asked again
  killed.get();
  EXPECT_THAT(town_.addresses(), ElementsAre("here:1", "leader:9"));
}

TEST_F(ClientTest, FollowsAlsoFromTheGreeting) {
  auto status = start([&] { return client_->tasks().get("t"); });
  town_.next().answer("-MOVED 0 leader:9\r\n");
  town_.next_greeted().answer(kNil);
  EXPECT_EQ(std::nullopt, status.get());
  EXPECT_THAT(town_.addresses(), ElementsAre("here:1", "leader:9"));
}

TEST_F(ClientTest, GarbageIsNoAnswer) {
  auto submitted = start([&] { return client_->tasks().submit({.queue = "q", .payload = "p"}); });
  std::string request;
  for (const char* garbage : {"HTTP/1.1 400 Bad Request\r\n\r\n", "$-2\r\n",
                              "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"
                              "*1\r\n*1\r\n*1\r\n"}) {
    Peer peer = town_.next_greeted();
    const std::string heard = peer.answer(garbage);
    EXPECT_EQ(request.empty() ? heard : request, heard);
    request = heard;
  }
  EXPECT_EQ(request, town_.next_greeted().answer(created("t")));
  EXPECT_EQ("t", submitted.get().task_id);
}

TEST_F(ClientTest, AnAnswerOfAnotherKindIsUnknown) {
  auto submitted =
      start([&] { return message_of<Unavailable>([&] { client_->tasks().submit({.queue = "q", .payload = "p"}); }); });
  Peer peer = town_.next_greeted();
  peer.answer(":7\r\n");
  EXPECT_THAT(submitted.get(), HasSubstr("may or may not have happened"));
}

TEST_F(ClientTest, WhoAnswersWhatWasNotAskedIsNotListenedTo) {
  auto first = start([&] { return client_->tasks().get("t"); });
  Peer peer = town_.next_greeted();
  peer.answer(kNil + kNil);
  first.get();
  auto second = start([&] { return client_->tasks().get("u"); });
  EXPECT_EQ("TASK.GET|u", town_.next_greeted().answer(kNil));
  EXPECT_EQ(std::nullopt, second.get());
}

TEST_F(ClientTest, WhoIsRefusedIsTold) {
  auto refused = start([&] { return message_of<Error>([&] { client_->tasks().get("t"); }); });
  town_.next().answer("-NOAUTH AUTH: wrong user or password\r\n");
  EXPECT_EQ("AUTH: wrong user or password", refused.get());
}

TEST_F(ClientTest, AnotherKindOfServerIsNotUsed) {
  auto refused = start([&] { return message_of<Unavailable>([&] { client_->tasks().get("t"); }); });
  town_.next().answer("%1\r\n" + bulk("server") + bulk("redis"));
  EXPECT_THAT(refused.get(), HasSubstr("expected a Tenure server, found one of 'redis'"));
}

TEST_F(ClientTest, ErrorsAreTheirExceptions) {
  std::optional<Peer> peer;
  const auto answered_with = [&](std::string_view error, auto call) {
    auto done = start(call);
    if (!peer) peer.emplace(town_.next_greeted());
    peer->answer(fmt::format("-{}\r\n", error));
    return done;
  };
  EXPECT_THROW(answered_with("NOTASK no", [&] { client_->tasks().history("t"); }).get(), NoSuchTask);
  EXPECT_THROW(answered_with("BACKPRESSURE no", [&] { client_->tasks().get("t"); }).get(), Backpressure);
  EXPECT_THROW(answered_with("EXPIRED no", [&] { client_->locks().release({lock_, "t"}); }).get(), LockExpired);
  EXPECT_THROW(answered_with("NOTHELD no", [&] { client_->locks().extend({lock_, "t"}); }).get(), NotHeld);
  EXPECT_THROW(answered_with("TOKENMISMATCH no", [&] { client_->work().succeed({"d", "t"}); }).get(), TokenMismatch);
  const auto acquire = [&] { client_->work().try_acquire({"d", Offset{9}}); };
  EXPECT_THROW(
      answered_with("BACKLOGORDER domain 'd': expected offset 7, the head of its backlog, got 9", acquire).get(),
      BacklogOrdering);
  EXPECT_THROW(answered_with("BACKLOGORDER in other words", acquire).get(), Error);
  EXPECT_THROW(answered_with("WHATEVER", acquire).get(), Error);
}

// --- time ---

TEST_F(ClientTest, ACallThatCannotBeSentIsGivenUp) {
  town_.refuse(1'000'000);
  const auto quick = client_->within(20ms);
  const std::string message = message_of<Unavailable>([&] { quick->tasks().submit({.queue = "q", .payload = "p"}); });
  EXPECT_THAT(message, HasSubstr("nothing was asked: nobody is there"));
  EXPECT_THROW(quick->locks().acquire({.lock = lock_, .owner = "o"}), LockAcquisitionError);
}

TEST_F(ClientTest, ACallThatIsNotAnsweredIsGivenUpAndTheConnectionWithIt) {
  const auto quick = client_->within(20ms);
  auto late =
      start([&] { return message_of<Unavailable>([&] { quick->tasks().submit({.queue = "q", .payload = "p"}); }); });
  Peer silent = town_.next_greeted();
  EXPECT_THAT(silent.hear(), StartsWith("TASK.SUBMIT"));
  EXPECT_THAT(late.get(), HasSubstr("may or may not have happened"));
  EXPECT_EQ("", silent.hear());  // it has hung up
  auto status = start([&] { return client_->tasks().get("t"); });
  EXPECT_EQ("TASK.GET|t", town_.next_greeted().answer(kNil));
  EXPECT_EQ(std::nullopt, status.get());
}

TEST_F(ClientTest, WhoDoesNotGreetIsGivenUp) {
  auto quick = settings();
  quick.connect_timeout = 20ms;
  client_ = make(quick);
  auto status = start([&] { return client_->tasks().get("t"); });
  Peer silent = town_.next();
  EXPECT_EQ(std::nullopt, [&] {
    town_.next_greeted().answer(kNil);
    return status.get();
  }());
}

TEST_F(ClientTest, DestroyingItEndsWhatIsUnderWay) {
  auto waiting = start([&] { return message_of<Unavailable>([&] { client_->tasks().wait("t", kLong); }); });
  Peer peer = town_.next_greeted();
  peer.hear();
  auto later = client_->tasks().submit_later({.queue = "q", .payload = "p"});
  client_.reset();
  EXPECT_EQ("the client is closed", waiting.get());
  EXPECT_THROW(later.get(), Unavailable);
}

TEST_F(ClientTest, TheLastOfTheSameConnectionsClosesThem) {
  const auto other = client_->within(std::chrono::seconds(kPatienceSeconds));
  client_.reset();
  auto status = start([&] { return other->tasks().get("t"); });
  town_.next_greeted().answer(kNil);
  EXPECT_EQ(std::nullopt, status.get());
}

// --- addresses ---

std::string address_of(std::string_view text) {
  const auto where = read_address(text);
  return where ? where->host + " " + where->port : std::string(to_string(where.error().code));
}

TEST(AddressTest, IsAHostAndPerhapsAPort) {
  EXPECT_EQ("localhost 8368", address_of("localhost"));
  EXPECT_EQ("127.0.0.1 1", address_of("127.0.0.1:1"));
  EXPECT_EQ("::1 8368", address_of("[::1]"));
  EXPECT_EQ("::1 99", address_of("[::1]:99"));
  for (const char* wrong :
       {"", ":1", "a:", "a:b", "a:0", "a:65536", "::1", "a:1:2", "[::1", "[]:1", "[::1]x", "[::1]x:1"})
    EXPECT_EQ("INVALID", address_of(wrong)) << wrong;
}

TEST(AddressTest, NobodyThereIsUnavailable) {
  ClientSettings settings;
  settings.timeout = 50ms;
  EXPECT_THROW(Client::connect("127.0.0.1:1", settings), Unavailable);
  EXPECT_THROW(Client::connect("nowhere:", settings), InvalidRequest);
  settings.others = {"a:b"};
  EXPECT_THROW(Client::connect("127.0.0.1:1", settings), InvalidRequest);
}

}  // namespace
}  // namespace tenure::client

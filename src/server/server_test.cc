// The server in this process: rounds, and what it does when time or its journal asks for it.
#include "server/server.h"

#include <optional>
#include <thread>

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "authority/testing.h"

namespace tenure::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A client with a blocking socket.
class Client {
 public:
  explicit Client(const boost::asio::ip::tcp::endpoint& server) : socket_(io_) { socket_.connect(server); }

  void say(std::string_view line) { boost::asio::write(socket_, boost::asio::buffer(line)); }
  // So many bytes, or all until the end.
  std::string hear(std::size_t count) {
    std::string bytes(count, '\0');
    boost::system::error_code end;
    bytes.resize(boost::asio::read(socket_, boost::asio::buffer(bytes), end));
    return bytes;
  }
  std::string ask(std::string_view line, std::size_t count) {
    say(line);
    return hear(count);
  }

 private:
  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_;
};

// A server on an engine, and its thread.
class Host {
 public:
  Host(Engine& engine, const Journal& journal, const Clock& clock) {
    std::vector<std::unique_ptr<Listener>> listeners;
    for (const Face face : {Face::kRedis, Face::kHttp}) {
      auto listener = Listener::bind(io_, "127.0.0.1", 0, face);
      EXPECT_EQ("OK", word(listener));
      (face == Face::kRedis ? address_ : http_address_) = (*listener)->address();
      listeners.push_back(std::move(*listener));
    }
    server_.emplace(
        config_, Server::Ports{.io = io_, .engine = engine, .journal = journal, .snapshots = nullptr, .clock = clock},
        std::move(listeners), 1);
    EXPECT_EQ("OK", word(server_->open()));
    loop_ = std::thread([this] { ended_ = server_->run(); });
  }
  explicit Host(const World& world) : Host(*world.engine, world.journal, *world.clock) {}
  ~Host() {
    server_->stop("the test is over");
    if (loop_.joinable()) loop_.join();
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  [[nodiscard]] Client connect() const { return Client(address_); }
  [[nodiscard]] Client connect_http() const { return Client(http_address_); }
  // How it ended by itself.
  Result<Done> await_end() {
    loop_.join();
    return ended_;
  }

 private:
  Config config_;
  boost::asio::io_context io_{1};
  boost::asio::ip::tcp::endpoint address_;
  boost::asio::ip::tcp::endpoint http_address_;
  std::optional<Server> server_;
  Result<Done> ended_ = Done{};
  std::thread loop_;
};

TEST(ServerTest, Answers) {
  const World world;
  const Host host(world);
  Client client = host.connect();
  EXPECT_EQ("+PONG\r\n", client.ask("PING\r\n", 7));
  EXPECT_THAT(client.ask("LOCK.ACQUIRE d i me\r\n", 11), "*4\r\n$18\r\n1-");
}

TEST(ServerTest, AnswersHttp) {
  const World world;
  const Host host(world);
  Client client = host.connect_http();
  EXPECT_THAT(
      client.ask("POST /v1/locks/d/i/acquire HTTP/1.1\r\nHost: x\r\nContent-Length: 14\r\n\r\n{\"owner\":\"me\"}", 15),
      "HTTP/1.1 200 OK");
  Client redis = host.connect();
  EXPECT_EQ("$-1\r\n", redis.ask("LOCK.ACQUIRE d i you\r\n", 5));
  Client status = host.connect_http();
  const std::string told = status.ask("GET /v1/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 10'000);
  EXPECT_THAT(told, HasSubstr(R"("connected_clients":3)"));
  EXPECT_THAT(told, HasSubstr(R"("locks":1)"));
  EXPECT_THAT(redis.ask("CLIENT LIST\r\n", 150), HasSubstr(" resp=http "));
}

TEST(ServerTest, AFailedJournalIsToldOverHttp) {
  World world;
  Host host(world);
  Client client = host.connect_http();
  // Sent in one piece: once the first is answered, the second waits.
  EXPECT_EQ("HTTP/1.1 200 OK", client.ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
                                          "POST /v1/lease HTTP/1.1\r\nHost: x\r\nContent-Length: 46\r\n\r\n"
                                          R"({"worker":"w","queues":["q"],"block_ms":60000})",
                                          15));
  world.journal.fail("no space left");
  EXPECT_THAT(client.hear(2000), HasSubstr("\"UNAVAILABLE\""));
  EXPECT_THAT(why(host.await_end()), HasSubstr("no space left"));
}

TEST(ServerTest, AnswersInOrderOnceAllIsDurable) {
  World world;
  const Host host(world);
  Client client = host.connect();
  world.journal.hold(true);
  client.say("TASK.SUBMIT q p ID a\r\nTASK.SUBMIT q p ID b\r\nPING\r\n");
  world.journal.hold(false);
  const std::string expected = "*2\r\n$1\r\na\r\n$7\r\nCREATED\r\n*2\r\n$1\r\nb\r\n$7\r\nCREATED\r\n+PONG\r\n";
  EXPECT_EQ(expected, client.hear(expected.size()));
}

TEST(ServerTest, HandsARoundOverAtOnce) {
  const ManualClock clock(kStart);
  SeededEntropy entropy(1);
  CountingJournal journal;
  auto engine = Engine::start({}, {clock, entropy, journal});
  ASSERT_EQ("OK", word(engine));
  {
    const Host host(**engine, journal, clock);
    Client client = host.connect();
    std::string requests;
    for (int i = 0; i < 50; ++i) requests += fmt::format("LOCK.ACQUIRE d {} me\r\n", i);
    client.ask(requests + "PING\r\n", 50 * 40);
  }
  EXPECT_EQ(50U, journal.appends);
  EXPECT_EQ(1, journal.commits);
}

TEST(ServerTest, TimePassesByItself) {
  const World world;
  const Host host(world);
  Client client = host.connect();
  EXPECT_EQ("*2\r\n$1\r\nt\r\n$7\r\nCREATED\r\n", client.ask("TASK.SUBMIT q p ID t DELAY 50\r\n", 24));
  client.say("TASK.LEASE w 1 q BLOCK 60000\r\n");
  world.clock->advance(Millis{60});
  EXPECT_EQ("*1\r\n", client.hear(4));
}

TEST(ServerTest, AFailedJournalIsToldAndEndsIt) {
  World world;
  Host host(world);
  Client client = host.connect();
  EXPECT_EQ("+PONG\r\n", client.ask("PING\r\nTASK.LEASE w 1 q BLOCK 60000\r\n", 7));
  world.journal.fail("no space left");
  EXPECT_THAT(client.hear(1000), StartsWith("-UNAVAILABLE"));
  EXPECT_THAT(why(host.await_end()), HasSubstr("no space left"));
}

}  // namespace
}  // namespace tenure::server

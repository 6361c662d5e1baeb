// A client and a real tenured that speak TLS, with users: who is believed, who is let in, and what is said otherwise.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tenure/client.h>
#include <tenure/soft_lock.h>
#include "certificates.h"
#include "tenured.h"
#include "users/password.h"

namespace tenure::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class TlsTest : public ::testing::Test {
 protected:
  // One server for all of them: making keys and hashes takes its time.
  struct Town {
    TemporaryFolder folder;
    Signer signer{folder.path(), "signer"};
    Signer stranger{folder.path(), "stranger"};
    Signer::Pair server_pair = signer.sign("tenured", "127.0.0.1");
    Signer::Pair joe = signer.sign("joe");
    std::string users = write_users();
    Tenured server{{"--users", users, "--tls-cert", server_pair.certificate, "--tls-key", server_pair.key,
                    "--tls-client-ca", signer.certificate()}};

    std::string write_users() {
      std::string path = folder.path() + "/users";
      std::ofstream file(path);
      file << "joe " << users::hash_password("joe's own").value() << " admin submit work read lock\n";
      file.close();
      std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
      return path;
    }
  };
  static Town& town() { return *town_; }
  static void SetUpTestSuite() { town_ = std::make_unique<Town>(); }
  static void TearDownTestSuite() { town_.reset(); }

  static ClientSettings settings() {
    ClientSettings settings;
    settings.tls = {.ca_file = town().signer.certificate()};
    settings.user = "joe";
    settings.password = "joe's own";
    settings.backoff_max = 50ms;
    return settings;
  }
  static std::string refusal_of(const ClientSettings& settings, const std::string& address = town().server.address()) {
    try {
      Client::connect(address, settings);
    } catch (const Error& error) {
      return std::string(to_string(error.code())) + " " + error.what();
    }
    return "none";
  }

 private:
  inline static std::unique_ptr<Town> town_;
};

TEST_F(TlsTest, EverythingWorksAsWithoutIt) {
  const auto client = Client::connect(town().server.address(), settings());
  const std::string payload(1 << 20, 'x');  // many records of TLS
  const std::string task = client->tasks().submit({.queue = "q", .payload = payload}).task_id;
  EXPECT_EQ(payload, client->tasks().lease({.worker = "w", .queues = {"q"}}, 1min).at(0).payload);
  client->tasks().kill({.task_id = task, .reason = "seen"});
  auto manager = SoftLockManager::builder(client->locks()).build();
  auto lock = manager.get_lock("d", "1");
  lock.lock();
  EXPECT_FALSE(std::async(std::launch::async, [&] { return lock.try_lock_for(10ms); }).get());
  lock.release();
}

TEST_F(TlsTest, CallsGoOnWhenTheServerWasKilled) {
  ClientSettings patient = settings();
  patient.timeout = 60s;
  const auto client = Client::connect(town().server.address(), patient);
  town().server.kill();
  town().server.start();
  EXPECT_FALSE(client->tasks().get("none").has_value());
}

TEST_F(TlsTest, ACertificateSignsIn) {
  ClientSettings certified = settings();
  certified.user.clear();
  certified.password.clear();
  certified.tls->certificate_file = town().joe.certificate;
  certified.tls->key_file = town().joe.key;
  EXPECT_EQ("none", refusal_of(certified));
}

TEST_F(TlsTest, WhoDoesNotSignInIsTold) {
  ClientSettings nobody = settings();
  nobody.password.clear();
  EXPECT_THAT(refusal_of(nobody), HasSubstr("NOAUTH"));
  ClientSettings liar = settings();
  liar.password = "another";
  EXPECT_THAT(refusal_of(liar), HasSubstr("NOAUTH AUTH: expected the name and the password of a user, found others"));
}

TEST_F(TlsTest, AServerThatAStrangerVouchesForIsNotBelieved) {
  ClientSettings strange = settings();
  strange.tls->ca_file = town().stranger.certificate();
  EXPECT_THAT(refusal_of(strange), HasSubstr("expected a certificate that is valid and signed by " +
                                             town().stranger.certificate() + ", found: "));
  strange.tls->ca_file.clear();  // nor does the machine
  EXPECT_THAT(refusal_of(strange), HasSubstr("signed by whom this machine believes, found: "));
}

TEST_F(TlsTest, AServerOfAnotherNameIsNotBelieved) {
  ClientSettings other = settings();
  other.tls->server_name = "other.example";
  EXPECT_THAT(refusal_of(other), HasSubstr("expected a certificate for other.example, found one for 127.0.0.1"));
  other.tls->server_name = "127.0.0.2";
  EXPECT_THAT(refusal_of(other), HasSubstr("expected a certificate for 127.0.0.2, found one for 127.0.0.1"));
  other.tls->server_name = "127.0.0.1";
  EXPECT_EQ("none", refusal_of(other));
}

TEST_F(TlsTest, AServerWithoutTlsIsNotSpokenTo) {
  const Tenured plain;
  EXPECT_THAT(refusal_of(settings(), plain.address()),
              HasSubstr("TLS: expected a server that speaks it, found one that does not"));
}

TEST_F(TlsTest, AClientWithoutTlsIsTold) {
  ClientSettings plain = settings();
  plain.tls.reset();
  plain.timeout = 500ms;
  EXPECT_THAT(refusal_of(plain), HasSubstr("with TLS or without"));
}

TEST_F(TlsTest, FilesThatAreNotWhatTheyShouldBeAreNamed) {
  ClientSettings wrong = settings();
  wrong.tls->ca_file = "/none";
  EXPECT_THAT(refusal_of(wrong), HasSubstr("INVALID tls.ca_file: "));
  wrong.tls->ca_file = town().joe.key;
  EXPECT_THAT(refusal_of(wrong), HasSubstr("tls.ca_file " + town().joe.key + ": expected certificates in PEM"));
  wrong = settings();
  wrong.tls->certificate_file = town().joe.certificate;
  EXPECT_THAT(refusal_of(wrong), HasSubstr("tls.key_file: expected a file, found none"));
  wrong.tls->key_file = town().server_pair.key;
  EXPECT_THAT(refusal_of(wrong), HasSubstr("expected the key of the certificate"));
  wrong.tls->certificate_file = town().joe.key;
  EXPECT_THAT(refusal_of(wrong), HasSubstr("expected certificates in PEM"));
}

}  // namespace
}  // namespace tenure::testing

// Real etcd processes on loopback, for tests. They do not outlive them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "child.h"
#include "etcd/grpc_store.h"

namespace tenure::testing {

using namespace std::chrono_literals;

bool can_start_etcd();

// Looks again and again until it is so, or too long has passed; whether it is so.
bool await(const std::function<bool()>& is_so, Millis patience = 20s);
// Runs a program to its end; whether it says that all went well.
bool run(const std::vector<std::string>& words);

// One cluster. One thread.
class EtcdMembers {
 public:
  // `words` are added to the command of each member. Waits until they serve, unless they are not to be asked.
  explicit EtcdMembers(int count = 1, const std::vector<std::string>& words = {}, bool is_plain = true);
  // One of one member, that tests share which change nothing but keys below a prefix of their own.
  static EtcdMembers& shared();

  // host:port
  [[nodiscard]] const std::vector<std::string>& addresses() const { return addresses_; }
  [[nodiscard]] std::unique_ptr<etcd::GrpcStore> connect() const;
  [[nodiscard]] const std::string& folder() const { return folder_.path(); }

  void kill(std::size_t which) { members_[which].reset(); }
  void start(std::size_t which);
  void signal(std::size_t which, int number) { members_[which]->signal(number); }
  // Whether all that are asked for serve.
  [[nodiscard]] bool await_serving() const;

 private:
  const TemporaryFolder folder_;
  const std::vector<std::string> words_;
  const std::string scheme_;
  std::vector<std::string> addresses_;
  std::vector<std::string> peers_;
  std::vector<std::unique_ptr<Child>> members_;
};

// A prefix that no other test uses.
std::string unused_prefix();

}  // namespace tenure::testing

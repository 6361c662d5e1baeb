// The limit: a server that has to do what every durable server has to, and nothing else. It reads requests of RESP,
// writes their bytes to a file, and says +OK to each once it is synced. What came in a round of the poll, and in all
// rounds while a sync was under way, is one batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "group_commit.h"
#include "socket.h"

namespace tenure::bench {

// One thread, beside the one that syncs.
class BareServer {
 public:
  BareServer(std::uint16_t port, const std::string& path);

  [[nodiscard]] std::uint16_t port() const { return port_of(listener_); }
  // For ever, or until something is thrown.
  [[noreturn]] void run();

 private:
  struct Client {
    Descriptor socket;
    std::string input;  // the beginning of a request
  };
  using Owed = std::vector<std::pair<std::shared_ptr<Client>, std::size_t>>;

  void serve(std::uint64_t key);
  void accept_all();
  void receive(const std::shared_ptr<Client>& client);
  void take_requests(const std::shared_ptr<Client>& client);
  void finish_batch();
  void begin_batch();

  Descriptor listener_;
  Descriptor poll_;
  GroupCommit commit_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Client>> clients_;  // by descriptor, which is the poll's key
  std::string pending_;                                                 // of the next batch
  Owed pending_owed_;
  Owed syncing_owed_;
  bool is_syncing_ = false;
};

}  // namespace tenure::bench

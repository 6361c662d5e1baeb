// An etcd cluster, over the network.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "etcd/store.h"

namespace tenure::etcd {

class GrpcWire;  // channels, the queue of what has ended, its thread

// Thread-safe. Has one thread, which tells the answers. A call goes to one member, as long as that answers; what surely
// was not begun, and what only reads, is tried with the next member within its time.
class GrpcStore final : public Store {
 public:
  // All PEM; empty: none.
  struct Tls {
    std::string ca{};  // whom the members are trusted by; none: those that the machine trusts
    std::string certificate{};
    std::string key{};
  };
  struct Options {
    std::vector<std::string> members;  // host:port
    bool is_tls = false;
    Tls tls{};
    std::string user{};  // empty: nobody signs in
    std::string password{};
  };

  explicit GrpcStore(Options options);
  ~GrpcStore() override;

  void txn(Txn txn, Millis timeout, Tell<TxnAnswer> tell) override;
  void range(Range range, Millis timeout, Tell<RangeAnswer> tell) override;
  void compact(Revision revision, Millis timeout, Tell<Revision> tell) override;
  void grant(Millis ttl, Millis timeout, Tell<Lease> tell) override;
  void keep_alive(LeaseId lease, Millis timeout, Tell<Lease> tell) override;
  void revoke(LeaseId lease, Millis timeout, Tell<LeaseId> tell) override;
  std::unique_ptr<Watch> watch(KeyRange keys, Revision from, TellNews tell) override;
  void status(Millis timeout, Tell<Status> tell) override;
  void after(Millis delay, std::function<void()> call) override;
  Answer<RangeAnswer> range_now(Range asked, Millis timeout) override;
  Answer<TxnAnswer> txn_now(Txn asked, Millis timeout) override;

 private:
  std::unique_ptr<GrpcWire> wire_;
};

}  // namespace tenure::etcd

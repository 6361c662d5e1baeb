// The kinds of callers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "caller.h"

namespace tenure::sim {

// Submits tasks, asks about them, kills them, submits them again. One thread.
class Client final : public Caller {
 public:
  using Caller::Caller;

 private:
  void act() override;
  void forget() override { used_.clear(); }

  void submit();
  void ask_about(const std::string& task);
  std::string some_task();

  struct Used {
    std::string request_id;
    std::string queue;
    std::string payload;
  };
  std::vector<Used> used_;  // request ids, and what for
};

// Leases tasks, and reports: in time, late, twice, with a wrong token. One thread.
class Worker final : public Caller {
 public:
  using Caller::Caller;

 private:
  void act() override;
  void forget() override {
    leases_.clear();
    done_.clear();
  }

  void lease();
  void report(const Claim& claim);
  void misbehave();

  std::vector<Claim> leases_;
  std::vector<Claim> done_;  // reported already
};

// Works through the offsets of domains. One thread.
class Orchestrator final : public Caller {
 public:
  using Caller::Caller;

 private:
  void act() override;
  void forget() override {
    holds_.clear();
    done_.clear();
    heads_.clear();
  }

  void acquire();
  void report(const Claim& claim);
  void misbehave();
  void look();

  std::vector<Claim> holds_;
  std::vector<Claim> done_;
  std::map<std::string, Offset> heads_;  // by domain: whose turn it is, as far as it knows
  std::map<std::string, std::int64_t> next_;
};

// Takes locks and gives them back, in a session or without one. One thread.
class LockUser final : public Caller {
 public:
  using Caller::Caller;

 private:
  void act() override;
  void forget() override {
    holds_.clear();
    released_.clear();
    has_session_ = false;
  }

  void acquire();
  void release(const Claim& claim);
  void misbehave();
  void look();

  std::vector<Claim> holds_;
  std::vector<Claim> released_;
  bool has_session_ = false;
};

// Looks after everything when the others are gone: finishes every task, every domain. Always behaves. One thread.
class Finisher final : public Caller {
 public:
  using Caller::Caller;

 private:
  void act() override;
  void forget() override {}
  Millis pace() override { return Millis{100}; }

  void finish_tasks();
  void finish_domain(const std::string& name);
};

}  // namespace tenure::sim

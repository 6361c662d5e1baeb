// The process under test: the real engine, file journal, recovery and snapshots, on simulated files and clocks. It
// dies, stalls and starts again as the world wants; everything it does is noted for the checker.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "agenda.h"
#include "authority/engine.h"
#include "base/dice.h"
#include "checker.h"
#include "desk.h"
#include "disk.h"
#include "evidence.h"
#include "journal/file_journal.h"
#include "lives.h"
#include "machine_clock.h"
#include "network.h"
#include "service.h"
#include "story.h"
#include "tally.h"
#include "upkeep.h"

namespace tenure::sim {

// One thread.
class Server final : public Service {
 public:
  // The world around it, which outlives it.
  struct Ports {
    Agenda& agenda;
    Story& story;
    Tally& tally;
    Checker& checker;
    Network& network;
    MachineClock& clock;
    Disk& disk;
  };

  Server(const Settings& settings, Ports ports, std::uint64_t seed);
  ~Server() override;

  // Starts on what is on the disk; if it fails it is tried again, until it succeeds.
  void start();
  [[nodiscard]] bool is_up() const { return engine_ != nullptr; }
  // Told when it ends; whether the power failed.
  void on_end(std::function<void(bool is_power_lost)> told) { on_end_ = std::move(told); }

  [[nodiscard]] std::vector<std::string> addresses() const override { return {"server"}; }
  [[nodiscard]] bool is_up_at(const std::string& /*address*/) const override { return is_up(); }
  void hear(const Mail& mail) override;
  void hang_up(std::uint64_t connection) override;

  // --- how it ends; each starts it again after a while ---
  void kill();
  void lose_power(FaultyFiles::Damage damage);
  void close();

  // Does nothing for so long, though time passes.
  void stall(Millis time);
  // Of the state as it is, as soon as that is durable.
  void make_snapshot();
  void raise_fence();
  void slow_disk(Millis time);
  // From now on it works as well as it can.
  void calm();

  [[nodiscard]] const Engine& engine() const { return *engine_; }

 private:
  void fail_start(const Failure& failure);
  // Ends this life; the disk is told how by `end`.
  void end_life(const char* how, const std::function<void()>& end);

  void note_frame(FrameNote note);
  void open_desk();
  // What every call leaves to be done.
  void settle();
  void write();
  void vouch();

  const Settings settings_;
  Ports ports_;
  Dice dice_;
  Lives lives_;
  Millis slow_until_{0};
  bool is_calm_ = false;
  std::function<void(bool is_power_lost)> on_end_;

  // This life.
  std::unique_ptr<NotedEntropy> entropy_;
  std::unique_ptr<SeededEntropy> journal_entropy_;
  std::unique_ptr<FileJournal> file_journal_;
  std::unique_ptr<NotedJournal> journal_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Desk> desk_;
  std::unique_ptr<Upkeep> upkeep_;
  bool is_write_planned_ = false;
};

}  // namespace tenure::sim

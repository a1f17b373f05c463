// Deadlocks: every thread of every rank waits in a modelled call and nothing can be decided, or all wait, some of them
// inside the MPI library, where nothing moves. Of one thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "events/source/source_lines.hpp"
#include "simnode/engine/engine.hpp"
#include "simnode/node/job_ranks.hpp"
#include "simnode/node/settings.hpp"
#include "simnode/node/standstill.hpp"
#include "simnode/node/translator.hpp"
#include "support/ids.hpp"

namespace nplus1::simnode::node {

class Deadlocks {
 public:
  Deadlocks(const Settings& settings, JobRanks& ranks, engine::Engine& engine, const Translator& translator,
            events::source::SourceLines& lines, std::vector<std::string>& notes)
      : settings_{settings},
        ranks_{ranks},
        engine_{engine},
        translator_{translator},
        source_lines_{lines},
        notes_{notes} {}

  /// Lets a send go that only the network model's rendezvous holds back, if that frees the ranks; says who waits for whom
  /// if nothing does, once, and ends the job where that was asked for.
  void look();

 private:
  void look_for_deadlock();
  void look_for_standstill();
  [[nodiscard]] bool blocked_for_long();
  [[nodiscard]] bool stands_still();
  /// `waiting`: the threads that are known to wait.
  [[nodiscard]] bool threads_may_run(const std::vector<engine::BlockedThread>& waiting) const;
  [[nodiscard]] std::string deadlock_report();
  [[nodiscard]] std::string standstill_report();
  [[nodiscard]] std::string line_of(const engine::BlockedThread& blocked);
  [[nodiscard]] std::string place_of(RankId rank, CallSiteId site);
  [[nodiscard]] const char* what_follows() const;
  void tell_deadlock(const std::string& text, RankId first, const std::vector<engine::BlockedThread>& others);

  const Settings& settings_;
  JobRanks& ranks_;
  engine::Engine& engine_;
  const Translator& translator_;
  events::source::SourceLines& source_lines_;
  std::vector<std::string>& notes_;
  bool said_ = false;
  Standstill standstill_;
  std::chrono::steady_clock::time_point standstill_looked_{};
  std::optional<std::chrono::steady_clock::time_point> all_blocked_since_;
};

}  // namespace nplus1::simnode::node

// Where each rank of a job is, natively, while it runs or hangs: read from outside, from the pages that its ranks have
// mapped (events/statistics), without asking the job, or MPI. A face.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/result.hpp"

namespace nplus1::analyses {

struct RankPlace {
  enum class Process { kRuns, kStopped, kGone, kElsewhere };  // elsewhere: on another host
  std::int32_t rank = 0;
  Process process = Process::kRuns;
  bool finalized = false;
  bool inside = false;  // an MPI call
  bool moves = false;   // it has begun or ended a call between two looks
  std::string call;     // under way, or the last one; empty: none so far
  std::string place;    // its line
  double since_s = 0;
  std::vector<std::int32_t> waits_for;  // world ranks; -1: any
  bool in_collective = false;
  std::string what;  // "a message from rank 3"
};

struct Where {
  std::string job;
  std::int32_t ranks = 0;
  std::vector<RankPlace> places;       // by rank
  std::vector<std::string> sentences;  // the odd ones out, mismatches, a cycle
};

/// Takes two looks, 0.2 s apart.
[[nodiscard]] Result<Where> where(const std::string& folder);
/// The sentences, then a line for each group of ranks.
[[nodiscard]] std::string where_text(const Where& where);

}  // namespace nplus1::analyses

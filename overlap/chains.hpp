// Chains of related messages (Natvig and Elster 2010, section 2): the messages that a thread makes one after the
// other, as long as none of their buffers is used. A chain that is seen again, at another rank or later, is the same
// chain: the hash of its contexts is. Pure functions of a survey; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "overlap/bounds.hpp"

namespace nplus1::overlap {

/// Once around a chain. Places in SurveyedRank::ends.
struct ChainInstance {
  std::int32_t rank = 0;
  std::vector<std::uint32_t> members;  // in the order of their calls
  std::vector<std::uint32_t> merged;   // of the chain behind it: what may be started with this one
  std::uint64_t end = kNoOrdinal;      // it ends before this event of its thread
  std::uint32_t ends_it = 0;           // the member whose window ends first
};

/// A call of a chain: function and call path; both halves of an MPI_Sendrecv are one.
struct Context {
  std::uint16_t call = 0;
  std::uint32_t site = 0;
  friend auto operator<=>(const Context&, const Context&) = default;
};

struct Chain {
  std::uint64_t id = 0;
  std::vector<Context> contexts;  // of its first instance
  std::vector<Context> calls;     // the same, sorted, each once
  std::vector<ChainInstance> instances;
  std::uint32_t requests = 0;                 // of its first instance, without those to MPI_PROC_NULL
  bool blocks = false;                        // some of its calls wait in the call
  std::uint64_t ranks = 0;                    // that have instances
  std::int64_t in_calls_ps = 0;               // spent in its calls and their waits, by all ranks
  std::map<EndedBy, std::uint64_t> ended_by;  // instances
  /// The access that ends most of its instances; unknown if none does.
  Touch touch;
  std::uint32_t ending_site = 0;            // of most of its instances
  std::vector<std::uint32_t> ending_sites;  // of all
  std::uint64_t merged_requests = 0;
  std::vector<Context> merges;  // calls that may be started with it, of its first instance that has some

  [[nodiscard]] EndedBy ends() const;
};

/// What stands in the way at a place of the program.
struct NotDeferrable {
  Context context;
  const char* reason = "";
  std::uint64_t count = 0;
};

/// A buffer that was touched before its request was waited for.
struct Race {
  Context request;
  bool receive = false;
  Touch touch;  // the first of them
  std::uint64_t count = 0;
};

struct Analysis {
  std::vector<std::vector<Bounds>> bounds;  // by rank, as SurveyedRank::ends
  std::vector<Chain> chains;                // most time in their calls first
  std::vector<NotDeferrable> not_deferrable;
  std::vector<Race> races;
};

[[nodiscard]] Analysis analyse(const Survey& survey);

/// The chain, and those all of whose calls are among its own: at the edges of a grid ranks make some of the calls alone.
/// Who changes the chain's calls in the source changes them, too. Places in `analysis.chains`, the chain's first.
[[nodiscard]] std::vector<std::size_t> with_parts(const Analysis& analysis, std::size_t chain);

}  // namespace nplus1::overlap

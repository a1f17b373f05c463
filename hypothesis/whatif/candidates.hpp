// What an automatic sweep tries: each region or computing interval balanced, better networks, each class of
// messages gone or done by a collective operation, each exchange started at once, each collective with other
// algorithms. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hypothesis/recorded/settings.hpp"
#include "hypothesis/transform/exchanges.hpp"
#include "hypothesis/transform/step.hpp"
#include "hypothesis/waitstates/results.hpp"
#include "support/result.hpp"

namespace nplus1::hypothesis {

/// What a trial is for. Besides what is advised, two replays tell which part of a balance is systematic: with the
/// computing as it is every time, and with that balanced.
enum class Purpose : std::uint8_t { kAdvice, kSteady, kSteadyBalanced };

struct Candidate {
  std::string
      kind;  // "balance", "network", "messages", "replace", "exchange", "collectives", "overlap", "storage"
  std::string what;   // for people: "balance the computation before the call in solve (cg.c:42)"
  std::string flags;  // of nplus1 whatif, as a shell takes them
  std::vector<transform::Step> steps;
  std::string network, collectives;  // empty: as recorded
  std::optional<std::size_t>
      refines{};          // place in the list of the simpler one that this must beat to be worth a word
  std::string subject{};  // of a balance: which computing, empty: all; of algorithms: which collective
  std::vector<std::uint32_t> sites{};  // call paths whose sends it changes
  std::string storage{};               // empty: as recorded
  bool bound = false;                  // what something costs at most: no advice
  bool assumes = false;  // of a collective: nothing shows that it is one, "(if they are combined)"
  Purpose purpose = Purpose::kAdvice;
  std::vector<std::uint32_t> before{};  // of a balance of one place: call paths behind the computing
  bool ranks_differ = true;  // of a balance: false if a test has shown nothing that a rank has every time
};

/// The activities of the run, read back from waitstates.json.
struct RunActivity {
  std::string title, kind, region;
  std::uint32_t path = 0;
  std::uint64_t calls = 0;
  double time = 0;  // seconds, all ranks
};
[[nodiscard]] Result<std::vector<RunActivity>> parse_activities(const std::string& waitstates_json);

/// What a pass over the recording has found about its messages.
struct RunMessages {
  std::vector<transform::ExchangeSites> exchanges;
  std::set<std::uint32_t> known;  // call paths of sends of whose messages the recording has the contents
  std::set<std::uint32_t> empty;  // and of those whose messages have none: signals, which no operation moves
  std::set<std::uint32_t> combined;  // and of those in a collective that was found
};

/// At most `most` of each kind, those that take most time. `disturbed`: what comes and goes in computing that was measured may be
/// the host's.
[[nodiscard]] std::vector<Candidate> candidates_of(const std::vector<RunActivity>& activities,
                                                   const RunMessages& messages,
                                                   const RecordedSettings& recorded, bool disturbed = true,
                                                   std::size_t most = 16);

}  // namespace nplus1::hypothesis

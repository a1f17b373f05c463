// One replay of a what-if with its transformations: everything a child process needs. Part of compare() and find_fixes().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyses/by_hand.hpp"
#include "analyses/replay.hpp"
#include "hypothesis/clock/stretches.hpp"
#include "hypothesis/transform/chain.hpp"
#include "hypothesis/transform/step.hpp"
#include "hypothesis/whatif/analysis.hpp"

namespace nplus1::analyses {

struct OverlapSource;

struct Case {
  ReplaySettings replay;
  std::vector<hypothesis::transform::Step> steps;
  ByHand by_hand;                    // to be done by the library, after the steps
  std::vector<std::string> overlap;  // chains made non-blocking, last of all: ID or ID:VARIANT
  std::shared_ptr<const OverlapSource> overlap_source;  // null: the recording is surveyed for it
  bool deterministic = false;                           // who is first stays as recorded
  std::shared_ptr<hypothesis::clock::Stretches>
      clock;                    // what twins say of the recording's stretches; null: as recorded
  std::uint32_t replicate = 0;  // and with which samples
  std::shared_ptr<events::recording::Reader> recording;  // of replay.source, opened; null: it is opened anew
};

/// The case's transformations, surveyed. Errors as of Chain::build() and add().
[[nodiscard]] Result<hypothesis::transform::Chain> build_chain(const Case& c);

/// The case on its network. Runs in a child process; errors are those of the recording, the hypothesis, the
/// network. `chain`: from build_chain().
[[nodiscard]] Result<hypothesis::Analysis> analyse_case(const Case& c, hypothesis::transform::Chain& chain,
                                                        bool timeline);
/// The same, but for the times alone.
[[nodiscard]] Result<hypothesis::ReplayResult> replay_case(const Case& c);
[[nodiscard]] Result<hypothesis::ReplayResult> replay_case(const Case& c,
                                                           hypothesis::transform::Chain& chain);

/// One side of a comparison as a child process hands it on: the document but for its trust, and what that is made of.
struct Side {
  report::JsonObject document;
  hypothesis::ReplayTrust trust;
  std::string timeline;  // empty if not wanted
  static constexpr auto kMembers = std::tuple{&Side::document, &Side::trust, &Side::timeline};
};
[[nodiscard]] Result<Side> side_of_case(const Case& c, hypothesis::transform::Chain& chain, bool timeline);

}  // namespace nplus1::analyses

// A recording at another problem size: what each call and each access of a program computes before it, and how many
// bytes it moves, fitted over recordings of several sizes and put into one of them in the place of its own. What is
// replayed of that is a run of that size, with what of its communication is hidden, which no fit of the times
// themselves could know. Section 3.4 of the paper that docs/overlap.md names. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/sink.hpp"
#include "hypothesis/transform/transform.hpp"
#include "overlap/survey.hpp"

namespace nplus1::overlap {

/// All events of one place of the program: sums over the ranks.
struct Phase {
  double computing_ps = 0;  // before them
  double bytes = 0;
  std::uint64_t count = 0;
  bool access = false;  // of memory, not a call
};
/// By place: function and the return addresses above it; of an access, those of the message's call.
using Phases = std::map<std::uint64_t, Phase>;

/// A sink of the whole recording that `survey` was made of, which must outlive it.
class PhaseSums final : public events::EventSink {
 public:
  explicit PhaseSums(const Survey& survey) : survey_{survey} {}
  void on_event(const events::TimedEvent& event) override;
  [[nodiscard]] const Phases& phases() const { return phases_; }

 private:
  const Survey& survey_;
  Phases phases_;
};

/// How many times its own the computing and the bytes of a place are.
struct Scale {
  double computing = 1, bytes = 1;
};
using Scales = std::map<std::uint64_t, Scale>;

/// The phases of a run at size `n`.
struct SizedPhases {
  double n = 1;
  const Phases* phases = nullptr;
};

/// Which of the models that fit (normal_form.hpp): the best, or those that give least or most.
enum class Estimate : std::uint8_t { kBest, kLeast, kMost };

/// Why runs of these phases cannot be put into each other: they make other calls, or more of them; empty: they can.
[[nodiscard]] std::string differ(const std::vector<SizedPhases>& runs);

/// From the phases of runs on equally many ranks, what those of `base` are times at size `n`.
[[nodiscard]] Scales scales_at(const std::vector<SizedPhases>& runs, const Phases& base, double n,
                               Estimate estimate);

/// The stage that carries it out. `survey` is of the recording as it is.
[[nodiscard]] std::unique_ptr<hypothesis::transform::Transform> scaled(std::shared_ptr<const Survey> survey,
                                                                       std::shared_ptr<const Scales> scales);

}  // namespace nplus1::overlap

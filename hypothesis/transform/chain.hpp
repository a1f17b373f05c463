// A hypothesis ready to be applied: its transformations, one behind the other, each surveyed.
//
// Usage: build() plays the recording once or more, then the chain stands between a reader and a replay:
//
//   auto chain = Chain::build(steps, play);             // play(sink): the whole recording
//   reader.read(chain.begin(feed));                     // or: one rank's calls only
//   chain.finish();
//
// One thread; begin() may come again, for another pass. Memory: what the surveys keep (transform.hpp).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "events/sink.hpp"
#include "hypothesis/transform/step.hpp"
#include "hypothesis/transform/transform.hpp"
#include "support/result.hpp"

namespace nplus1::hypothesis::transform {

/// Plays a recording, from its start, to a sink; with `definitions_only`, what its numbers mean.
using Play = std::function<Result<Done>(events::EventSink& sink, bool definitions_only)>;

class Chain {
 public:
  /// `call_interval`: what every recorded call was charged for the computing before it, where that was given and
  /// not measured. Errors: a setting that is wrong; a transformation of what is not there (they say what is);
  /// what `play` says. `first`: a stage before all others.
  [[nodiscard]] static Result<Chain> build(const std::vector<Step>& steps, const Play& play,
                                           Duration call_interval = {},
                                           std::unique_ptr<Transform> first = nullptr);

  /// Where the recording's calls go in; what comes out goes to `next`.
  [[nodiscard]] events::EventSink& begin(events::EventSink& next);
  /// The recording has ended: what stages have held back goes on.
  void finish();
  [[nodiscard]] bool empty() const { return stages_.empty(); }

  /// A stage of one's own, behind the others (make_replacement() in replace.hpp); `play` for its survey.
  [[nodiscard]] Result<Done> add(std::unique_ptr<Transform> stage, const Play& play);

 private:
  Duration call_interval_{};
  std::vector<std::unique_ptr<Transform>> stages_;
};

}  // namespace nplus1::hypothesis::transform

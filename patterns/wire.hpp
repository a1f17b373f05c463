// What really goes over the wire: the messages of which collectives are made on the simulated machine,
// between the ranks that exchange them (docs/formats/patterns.md, "wire"). A member's messages follow from
// its own call and the choice of algorithms, so nothing is kept per call. Not thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "events/definitions.hpp"
#include "events/sink.hpp"
#include "netmodel/collectives/selection.hpp"
#include "patterns/pair_counts.hpp"
#include "patterns/patterns.hpp"
#include "patterns/size_counts.hpp"

namespace nplus1::patterns {

class Wire {
 public:
  /// `selection` null: nothing is counted. It must outlive this.
  Wire(std::size_t ranks, const netmodel::Selection* selection) : selection_{selection}, pairs_{ranks} {}

  /// The messages that the caller sends for one collective. A call that contradicts itself, as a damaged or
  /// imported stream may have, sends none.
  void count(const events::TimedEvent& call, const events::Communicator& communicator);

  /// The collectives' messages and those of `point_to_point`. Nothing if there were no collectives.
  [[nodiscard]] std::optional<Layer> with(const Layer& point_to_point) const;
  /// Whose choice of algorithms it was, as --collectives takes it.
  [[nodiscard]] std::string collectives() const;

 private:
  const netmodel::Selection* selection_;
  PairCounts pairs_;
  SizeCounts sizes_;
  bool any_ = false;
  std::vector<netmodel::Step> steps_;
  std::vector<std::int64_t> edge_sizes_;
};

}  // namespace nplus1::patterns

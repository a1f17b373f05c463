// Links that are not what the platform says: faster, slower, failed, and latencies that vary. Words among the settings of
// a platform, so that a network names itself with them:
//   link:NAME=xFACTOR   bandwidth times FACTOR; NAME: a link's, or that of both halves of a split duplex; *: all links
//   link:NAME=off       failed: who needs it cannot be simulated, as SimGrid's routes know no way around
//   link:NAME=bursts/SHARE/BURST/QUIET/SEED   others take SHARE of its bandwidth in bursts; both mean times exponential
//   jitter:DISTRIBUTION/MEAN/SEED   each message's latency is longer by chance (exponential, uniform, lognormal)
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/ids.hpp"
#include "support/result.hpp"

namespace nplus1::netmodel {

class LinkChanges {
 public:
  /// Seconds by which the latency of the `number`th message between two ranks is longer.
  using Jitter = std::function<double(RankId source, RankId destination, std::uint64_t number)>;

  /// Traffic of others on a link.
  struct Bursts {
    double share = 0;  // of its bandwidth, below 1
    double burst = 0;  // mean, seconds
    double quiet = 0;
    std::uint64_t seed = 0;
  };
  /// How long the phases of a link's bursts are: quiet, burst, quiet ...; seconds.
  [[nodiscard]] static std::function<double(std::uint64_t)> phases(const Bursts& bursts,
                                                                   std::string_view link);

  /// Takes those of the words that are about links. Errors name the word.
  [[nodiscard]] static Result<LinkChanges> parse(const std::vector<std::string>& settings);
  /// Whether SimGrid is not to see the word.
  [[nodiscard]] static bool is_ours(std::string_view setting);

  [[nodiscard]] bool any_bursts() const { return !bursts_.empty(); }
  [[nodiscard]] bool any() const { return !factors_.empty() || !bursts_.empty() || jitter_; }
  /// What the link's bandwidth is multiplied with; 0: it has failed. The last word that fits counts.
  [[nodiscard]] double factor(std::string_view link) const;
  /// The last word that fits counts here, too.
  [[nodiscard]] std::optional<Bursts> bursts(std::string_view link) const;
  /// A word that fits none of the names; empty if all do.
  [[nodiscard]] std::string unknown(const std::vector<std::string>& names) const;
  [[nodiscard]] const Jitter& jitter() const { return jitter_; }

 private:
  std::vector<std::pair<std::string, double>> factors_;
  std::vector<std::pair<std::string, Bursts>> bursts_;
  Jitter jitter_;
};

}  // namespace nplus1::netmodel

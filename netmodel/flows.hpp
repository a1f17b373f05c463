// A network in which messages meet: the flows that are under way share its links, and when one ends is known
// only once nothing can still join it. The engine starts flows and lets time pass; completions come in order
// of virtual time.
//
// One thread at a time, one engine each (NetworkModel::flows()).
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "netmodel/link_usage.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::netmodel {

/// A message that the simulator behind a model can't carry: the user's choice of a model, not a bug.
class MessageRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Flows {
 public:
  /// The caller's own number of a flow; it may be used again after its completion.
  using FlowId = std::uint32_t;
  struct Completion {
    FlowId id;
    Time at;
    /// How much longer its bytes took than they would have alone, where that is known.
    Duration held_up{};
  };

  virtual ~Flows() = default;
  /// A message of `size` (payload; the model adds its envelope) starts at `at`, not before now(). One that should have
  /// starts now. `cause`: the caller's label, by which LinkUsage tells messages apart.
  virtual void start(FlowId id, RankId source, RankId destination, Bytes size, Time at,
                     std::uint32_t cause) = 0;
  /// Lets time pass until flows complete, but no further than `until` (after look_ahead(): than is certain if whatever
  /// has not been started yet starts at `until` or later), and appends them: all that complete at the same time, and none
  /// that complete later. If none is appended, now() is `until`, or no flow is left. Throws MessageRefused.
  virtual void advance(Time until, std::vector<Completion>& completions) = 0;
  /// No message may start earlier any more.
  [[nodiscard]] virtual Time now() const = 0;
  /// Whether no flow is under way or about to start.
  [[nodiscard]] virtual bool idle() const = 0;

  /// From now on completions come as soon as they are certain, if these flows know before: a message shares nothing with
  /// others while its first byte is on its way. They are the same. Before the first start.
  virtual void look_ahead() {}

  /// Keeps account of the links from now on, if these flows can; before the first start.
  virtual void watch_links() {}
  /// What has crossed them so far; nothing where they are not watched.
  [[nodiscard]] virtual std::optional<LinkUsage> link_usage() const { return std::nullopt; }
};

}  // namespace nplus1::netmodel

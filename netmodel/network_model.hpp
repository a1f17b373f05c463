// The simulated network, as the engine and the stubs see it.
//
// A contention-free model prices each message by itself: transit() is a pure function, so a receiver can
// compute an arrival without asking anybody. A model with contention (netmodel/simgrid) prices flows
// against each other: then flows() is where arrivals come from (netmodel/flows.hpp), and transit() only a
// lower bound. Implementations are immutable after construction; all functions may be called from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "netmodel/flows.hpp"
#include "support/ids.hpp"
#include "support/result.hpp"
#include "support/units.hpp"

namespace nplus1::netmodel {

class NetworkModel {
 public:
  virtual ~NetworkModel() = default;

  /// CPU time that sending `size` costs the sender, before the message leaves (LogGOPS: o + s O).
  [[nodiscard]] virtual Duration send_overhead(Bytes size) const = 0;
  /// The same in a blocking send that ends before its message is there; differs only where a model says so.
  [[nodiscard]] virtual Duration blocking_send_overhead(Bytes size) const { return send_overhead(size); }
  /// CPU time that receiving `size` costs the receiver, after the message arrived.
  [[nodiscard]] virtual Duration receive_overhead(Bytes size) const = 0;
  /// From the first byte leaving `source` to the last byte arriving at `destination`, uncontended.
  [[nodiscard]] virtual Duration transit(RankId source, RankId destination, Bytes size) const = 0;
  /// How long the sender's network interface is busy with the message: the next one leaves no earlier
  /// (LogGOPS: max(g, s G)); zero where messages of one sender do not queue.
  [[nodiscard]] virtual Duration occupancy(Bytes size) const = 0;
  /// No message arrives earlier than this after it was sent: the lookahead of the conservative protocol.
  [[nodiscard]] virtual Duration minimum_latency() const = 0;
  /// Whether a standard send of `size` completes without its receive.
  [[nodiscard]] virtual bool eager(Bytes size) const = 0;
  /// Added once to a rendezvous transfer, which starts when both sides are ready.
  [[nodiscard]] virtual Duration handshake() const = 0;
  /// Whether transit() is the whole truth.
  [[nodiscard]] virtual bool contention_free() const = 0;
  /// With contention: whether a message of `size` travels before its receive is posted. Larger eager ones
  /// start when they meet their receive, though their sender is free at once.
  [[nodiscard]] virtual bool travels_unasked(Bytes /*size*/) const { return true; }
  /// A network without any flow in it, its time at zero; null if contention_free().
  [[nodiscard]] virtual std::unique_ptr<Flows> flows() const { return nullptr; }
  /// What a rank's measured compute time is multiplied with, because its simulated host is slower or faster.
  [[nodiscard]] virtual double compute_scale(RankId /*rank*/) const { return 1.0; }
  /// The specification for the ranks, which need the protocol (thresholds, overheads) only.
  [[nodiscard]] virtual std::string describe_to_ranks() const { return describe(); }
  /// The specification that parse() turns into an equal model, e.g. "lsb:latency=1e-06,bandwidth=1e+10".
  [[nodiscard]] virtual std::string describe() const = 0;
};

/// Builds an analytic model from `lsb:latency=S,bandwidth=B/S[,eager=BYTES][,handshake=S]` or
/// `loggops:L=..,o=..,g=..,G=..,O=..,S=..` (seconds, seconds per byte, bytes). Missing keys take the
/// documented defaults (docs/networks.md). Errors name the key and list those that exist.
[[nodiscard]] Result<std::unique_ptr<NetworkModel>> parse(std::string_view specification);

inline constexpr std::string_view kDefaultNetwork = "lsb";

}  // namespace nplus1::netmodel

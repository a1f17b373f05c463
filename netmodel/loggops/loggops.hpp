// LogGOPS (Hoefler, Schneider, Lumsdaine 2010): latency L, CPU overhead o + s O on both sides, gap g between
// messages and G per byte, rendezvous above S bytes. A message to oneself costs the same as any other.
//
// With interfaces=sender, g and G keep the sender's interface busy alone, and each message has its time by itself. With
// interfaces=both they keep the receiver's busy as well, as published: then messages meet (interface_flows.hpp).
// Immutable; all functions may be called from any thread.
#pragma once

#include <array>

#include "netmodel/network_model.hpp"
#include "netmodel/parameters.hpp"
#include "netmodel/specification.hpp"

namespace nplus1::netmodel {

class LogGops final : public NetworkModel {
 public:
  struct Parameters {
    double latency = 1e-6;                 // L, seconds
    double overhead = 0;                   // o, seconds
    double gap = 0;                        // g, seconds
    double gap_per_byte = 1e-10;           // G, seconds per byte
    double overhead_per_byte = 0;          // O, seconds per byte
    double eager_limit = kUnlimitedBytes;  // S: the largest eager message, in bytes
    double handshake = 0;                  // seconds, once per rendezvous
    bool both_interfaces = false;          // g and G count at the receiver, too
    friend bool operator==(const Parameters&, const Parameters&) = default;
  };

  explicit LogGops(const Parameters& parameters) : p_{parameters} {}

  /// o + s O; both interfaces: o + (s - 1) O
  [[nodiscard]] Duration send_overhead(Bytes size) const override;
  /// The same.
  [[nodiscard]] Duration receive_overhead(Bytes size) const override;
  /// L + s G; both interfaces: L + (s - 1) G, for a message alone
  [[nodiscard]] Duration transit(RankId source, RankId destination, Bytes size) const override;
  /// max(g, s G); both interfaces: g + (s - 1) G, at either end
  [[nodiscard]] Duration occupancy(Bytes size) const override;
  /// None where messages meet: they may start as soon as they are heard of.
  [[nodiscard]] Duration minimum_latency() const override;
  [[nodiscard]] bool eager(Bytes size) const override {
    return static_cast<double>(count(size)) <= p_.eager_limit;
  }
  [[nodiscard]] Duration handshake() const override;
  [[nodiscard]] bool contention_free() const override { return !p_.both_interfaces; }
  [[nodiscard]] bool travels_unasked(Bytes size) const override { return eager(size); }
  [[nodiscard]] std::unique_ptr<Flows> flows() const override;
  [[nodiscard]] std::string describe() const override;

  [[nodiscard]] const Parameters& parameters() const { return p_; }
  /// L
  [[nodiscard]] Duration latency() const;
  /// From a message's first byte to its last: (s - 1) G, or s G without the receiver's interface.
  [[nodiscard]] Duration bytes_take(Bytes size) const;

 private:
  [[nodiscard]] double counted(Bytes size) const;

  Parameters p_;
};

/// Keys: L, o, g, G, O, S, handshake, interfaces.
[[nodiscard]] Result<std::unique_ptr<NetworkModel>> parse_loggops(const Specification& specification);

/// The keys of its specification.
inline constexpr std::array<Parameter, 7> kLogGopsParameters{{{"L", Quantity::kTime, Role::kLatency},
                                                              {"o", Quantity::kTime},
                                                              {"g", Quantity::kTime},
                                                              {"G", Quantity::kTime, Role::kTimePerByte},
                                                              {"O", Quantity::kTime},
                                                              {"S", Quantity::kSize, Role::kEagerThreshold},
                                                              {"handshake", Quantity::kTime}}};

}  // namespace nplus1::netmodel

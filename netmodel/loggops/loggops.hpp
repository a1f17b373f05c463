// LogGOPS (Hoefler, Schneider, Lumsdaine 2010): latency L, CPU overhead o + s O on both sides, gap g between
// messages and G per byte at the sender's interface, rendezvous above S bytes. A message to oneself costs the
// same as any other. Immutable; all functions may be called from any thread.
#pragma once

#include "netmodel/network_model.hpp"
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
    friend bool operator==(const Parameters&, const Parameters&) = default;
  };

  explicit LogGops(const Parameters& parameters) : p_{parameters} {}

  /// o + s O
  [[nodiscard]] Duration send_overhead(Bytes size) const override;
  /// o + s O
  [[nodiscard]] Duration receive_overhead(Bytes size) const override;
  /// L + s G
  [[nodiscard]] Duration transit(RankId source, RankId destination, Bytes size) const override;
  /// max(g, s G)
  [[nodiscard]] Duration occupancy(Bytes size) const override;
  [[nodiscard]] Duration minimum_latency() const override;
  [[nodiscard]] bool eager(Bytes size) const override {
    return static_cast<double>(count(size)) <= p_.eager_limit;
  }
  [[nodiscard]] Duration handshake() const override;
  [[nodiscard]] bool contention_free() const override { return true; }
  [[nodiscard]] std::string describe() const override;

  [[nodiscard]] const Parameters& parameters() const { return p_; }

 private:
  Parameters p_;
};

/// Keys: L, o, g, G, O, S, handshake.
[[nodiscard]] Result<std::unique_ptr<NetworkModel>> parse_loggops(const Specification& specification);

}  // namespace nplus1::netmodel

// The network of Riesen 2006: a message of s bytes takes L + s/B, whatever else is going on.
// Senders and receivers spend no CPU time and interfaces are never busy; a message to oneself costs the same
// as any other. Immutable; all functions may be called from any thread.
#pragma once

#include <array>

#include "netmodel/network_model.hpp"
#include "netmodel/parameters.hpp"
#include "netmodel/specification.hpp"

namespace nplus1::netmodel {

class LatencyBandwidth final : public NetworkModel {
 public:
  struct Parameters {
    double latency = 1e-6;                 // seconds
    double bandwidth = 10e9;               // bytes per second, above zero
    double eager_limit = kUnlimitedBytes;  // largest eager message, in bytes
    double handshake = 0;                  // seconds, once per rendezvous
    friend bool operator==(const Parameters&, const Parameters&) = default;
  };

  explicit LatencyBandwidth(const Parameters& parameters) : p_{parameters} {}

  [[nodiscard]] Duration send_overhead(Bytes) const override { return Duration{0}; }
  [[nodiscard]] Duration receive_overhead(Bytes) const override { return Duration{0}; }
  [[nodiscard]] Duration transit(RankId source, RankId destination, Bytes size) const override;
  [[nodiscard]] Duration occupancy(Bytes) const override { return Duration{0}; }
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

/// Keys: latency, bandwidth, eager, handshake.
[[nodiscard]] Result<std::unique_ptr<NetworkModel>> parse_latency_bandwidth(
    const Specification& specification);

/// The keys of its specification.
inline constexpr std::array<Parameter, 4> kLatencyBandwidthParameters{
    {{"latency", Quantity::kTime, Role::kLatency},
     {"bandwidth", Quantity::kBandwidth, Role::kBandwidth},
     {"eager", Quantity::kSize, Role::kEagerThreshold},
     {"handshake", Quantity::kTime}}};

}  // namespace nplus1::netmodel

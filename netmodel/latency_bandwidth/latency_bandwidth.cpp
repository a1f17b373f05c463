#include "netmodel/latency_bandwidth/latency_bandwidth.hpp"

#include <array>

#include "netmodel/rounding.hpp"

namespace nplus1::netmodel {

Duration LatencyBandwidth::transit(RankId, RankId, Bytes size) const {
  return rounded(p_.latency + static_cast<double>(count(size)) / p_.bandwidth);
}

Duration LatencyBandwidth::minimum_latency() const {
  return rounded(p_.latency);
}

Duration LatencyBandwidth::handshake() const {
  return rounded(p_.handshake);
}

std::string LatencyBandwidth::describe() const {
  std::string text = "lsb";
  describe_key(text, "latency", p_.latency);
  describe_key(text, "bandwidth", p_.bandwidth);
  if (p_.eager_limit < kUnlimitedBytes) describe_key(text, "eager", p_.eager_limit);
  if (p_.handshake != 0) describe_key(text, "handshake", p_.handshake);
  return text;
}

Result<std::unique_ptr<NetworkModel>> parse_latency_bandwidth(const Specification& specification) {
  LatencyBandwidth::Parameters p;
  const std::array<Key, 4> keys{{{"latency", Quantity::kTime, &p.latency},
                                 {"bandwidth", Quantity::kBandwidth, &p.bandwidth, false},
                                 {"eager", Quantity::kSize, &p.eager_limit},
                                 {"handshake", Quantity::kTime, &p.handshake}}};
  if (auto error = read_keys(specification, keys)) return *error;
  return std::unique_ptr<NetworkModel>{std::make_unique<LatencyBandwidth>(p)};
}

}  // namespace nplus1::netmodel

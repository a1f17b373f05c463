#include "netmodel/loggops/loggops.hpp"

#include <algorithm>
#include <array>

#include "netmodel/rounding.hpp"

namespace nplus1::netmodel {
namespace {

double length(Bytes size) {
  return static_cast<double>(count(size));
}

}  // namespace

Duration LogGops::send_overhead(Bytes size) const {
  return rounded(p_.overhead + length(size) * p_.overhead_per_byte);
}

Duration LogGops::receive_overhead(Bytes size) const {
  return send_overhead(size);
}

Duration LogGops::transit(RankId, RankId, Bytes size) const {
  return rounded(p_.latency + length(size) * p_.gap_per_byte);
}

Duration LogGops::occupancy(Bytes size) const {
  return rounded(std::max(p_.gap, length(size) * p_.gap_per_byte));
}

Duration LogGops::minimum_latency() const {
  return rounded(p_.latency);
}

Duration LogGops::handshake() const {
  return rounded(p_.handshake);
}

std::string LogGops::describe() const {
  std::string text = "loggops";
  describe_key(text, "L", p_.latency);
  describe_key(text, "o", p_.overhead);
  describe_key(text, "g", p_.gap);
  describe_key(text, "G", p_.gap_per_byte);
  describe_key(text, "O", p_.overhead_per_byte);
  if (p_.eager_limit < kUnlimitedBytes) describe_key(text, "S", p_.eager_limit);
  if (p_.handshake != 0) describe_key(text, "handshake", p_.handshake);
  return text;
}

Result<std::unique_ptr<NetworkModel>> parse_loggops(const Specification& specification) {
  LogGops::Parameters p;
  const std::array<Key, 7> keys{{{"L", Quantity::kTime, &p.latency},
                                 {"o", Quantity::kTime, &p.overhead},
                                 {"g", Quantity::kTime, &p.gap},
                                 {"G", Quantity::kTime, &p.gap_per_byte},
                                 {"O", Quantity::kTime, &p.overhead_per_byte},
                                 {"S", Quantity::kSize, &p.eager_limit},
                                 {"handshake", Quantity::kTime, &p.handshake}}};
  if (auto error = read_keys(specification, keys)) return *error;
  return std::unique_ptr<NetworkModel>{std::make_unique<LogGops>(p)};
}

}  // namespace nplus1::netmodel

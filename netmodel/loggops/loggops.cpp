#include "netmodel/loggops/loggops.hpp"

#include <algorithm>
#include <array>

#include "netmodel/loggops/interface_flows.hpp"
#include "netmodel/rounding.hpp"
#include "netmodel/text.hpp"

namespace nplus1::netmodel {
/// The bytes that cost time. As published the first one is there when L is over, so that one byte less counts.
double LogGops::counted(Bytes size) const {
  const auto bytes = static_cast<double>(count(size));
  return p_.both_interfaces ? std::max(0.0, bytes - 1) : bytes;
}

Duration LogGops::send_overhead(Bytes size) const {
  return rounded(p_.overhead + counted(size) * p_.overhead_per_byte);
}

Duration LogGops::receive_overhead(Bytes size) const {
  return send_overhead(size);
}

Duration LogGops::transit(RankId, RankId, Bytes size) const {
  return rounded(p_.latency + counted(size) * p_.gap_per_byte);
}

Duration LogGops::bytes_take(Bytes size) const {
  return transit({}, {}, size) - latency();
}

Duration LogGops::occupancy(Bytes size) const {
  const double busy = counted(size) * p_.gap_per_byte;
  return rounded(p_.both_interfaces ? p_.gap + busy : std::max(p_.gap, busy));
}

Duration LogGops::latency() const {
  return rounded(p_.latency);
}

Duration LogGops::minimum_latency() const {
  return contention_free() ? latency() : Duration{};
}

std::unique_ptr<Flows> LogGops::flows() const {
  return p_.both_interfaces ? std::make_unique<InterfaceFlows>(*this) : nullptr;
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
  if (p_.both_interfaces) text += ",interfaces=both";
  return text;
}

Result<std::unique_ptr<NetworkModel>> parse_loggops(const Specification& specification) {
  LogGops::Parameters p;
  Specification numbers{specification.name, {}};
  for (const auto& [key, value] : specification.values) {
    if (key != "interfaces") {
      numbers.values.emplace_back(key, value);
      continue;
    }
    if (value != "sender" && value != "both")
      return Error{"network key 'interfaces': there is no " + in_quotes(value), "Give sender or both."};
    p.both_interfaces = value == "both";
  }
  const std::array<Key, 7> keys{{{"L", Quantity::kTime, &p.latency},
                                 {"o", Quantity::kTime, &p.overhead},
                                 {"g", Quantity::kTime, &p.gap},
                                 {"G", Quantity::kTime, &p.gap_per_byte},
                                 {"O", Quantity::kTime, &p.overhead_per_byte},
                                 {"S", Quantity::kSize, &p.eager_limit},
                                 {"handshake", Quantity::kTime, &p.handshake}}};
  if (auto error = read_keys(numbers, keys))
    return Error{error->what, error->remedy + " Or interfaces=sender, interfaces=both."};
  return std::unique_ptr<NetworkModel>{std::make_unique<LogGops>(p)};
}

}  // namespace nplus1::netmodel

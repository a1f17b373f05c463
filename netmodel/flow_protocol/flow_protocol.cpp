#include "netmodel/flow_protocol/flow_protocol.hpp"

#include <array>

#include "netmodel/text.hpp"

namespace nplus1::netmodel {

std::string FlowProtocol::protocol() const {
  std::string text = "flows";
  describe_key(text, "eager", p_.eager);
  describe_key(text, "unasked", p_.unasked);
  const auto add = [&text](std::string_view key, const Piecewise& cost) {
    if (!cost.zero()) text.append(",").append(key).append("=").append(cost.describe());
  };
  add("os", p_.blocking_send);
  add("ois", p_.immediate_send);
  add("or", p_.receive);
  return text;
}

Result<std::unique_ptr<NetworkModel>> parse_flow_protocol(const Specification& specification) {
  FlowProtocol::Parameters p;
  Specification thresholds{specification.name, {}};
  for (const auto& [key, value] : specification.values) {
    Piecewise* cost = key == "os"    ? &p.blocking_send
                      : key == "ois" ? &p.immediate_send
                      : key == "or"  ? &p.receive
                                     : nullptr;
    if (cost == nullptr) {
      thresholds.values.emplace_back(key, value);
      continue;
    }
    auto parsed = Piecewise::parse(value);
    if (!parsed)
      return Error{"network key " + in_quotes(key) + ": " + parsed.error().what, parsed.error().remedy};
    *cost = std::move(parsed).value();
  }
  const std::array<Key, 2> keys{
      {{"eager", Quantity::kSize, &p.eager}, {"unasked", Quantity::kSize, &p.unasked}}};
  if (auto error = read_keys(thresholds, keys)) return *error;
  if (p.unasked > p.eager)
    return Error{"network key 'unasked' is larger than 'eager'", "Give at most the value of eager."};
  return std::unique_ptr<NetworkModel>{std::make_unique<FlowProtocol>(std::move(p))};
}

}  // namespace nplus1::netmodel

#include "netmodel/network_model.hpp"

#include <array>
#include <span>

#include "netmodel/flow_protocol/flow_protocol.hpp"
#include "netmodel/latency_bandwidth/latency_bandwidth.hpp"
#include "netmodel/loggops/loggops.hpp"
#include "netmodel/parameters.hpp"
#include "netmodel/specification.hpp"
#include "netmodel/text.hpp"

namespace nplus1::netmodel {
namespace {

struct Model {
  std::string_view name;
  Result<std::unique_ptr<NetworkModel>> (*parse)(const Specification&);
  std::span<const Parameter> parameters{};
};

/// The analytic models by name; adding one is a line here.
constexpr std::array<Model, 2> kModels{{{"lsb", parse_latency_bandwidth, kLatencyBandwidthParameters},
                                        {"loggops", parse_loggops, kLogGopsParameters}}};

/// What the simulator tells ranks of a network with contention; not for users, who name a platform file.
constexpr Model kProtocol{"flows", parse_flow_protocol};

}  // namespace

Result<std::unique_ptr<NetworkModel>> parse(std::string_view specification) {
  const Result<Specification> parts = parse_specification(specification);
  if (!parts) return parts.error();
  for (const Model& model : kModels) {
    if (model.name == parts.value().name) return model.parse(parts.value());
  }
  if (parts.value().name == kProtocol.name) return kProtocol.parse(parts.value());
  const std::string known = join(kModels, [](const Model& model) { return std::string{model.name}; });
  return Error{"unknown network model " + in_quotes(parts.value().name), "The models are: " + known + "."};
}

std::span<const Parameter> parameters_of(std::string_view specification) {
  const std::string_view name = specification.substr(0, specification.find(':'));
  for (const Model& model : kModels)
    if (model.name == name) return model.parameters;
  return {};
}

const Parameter* parameter_of(std::string_view specification, Role role) {
  for (const Parameter& parameter : parameters_of(specification))
    if (parameter.role == role) return &parameter;
  return nullptr;
}

}  // namespace nplus1::netmodel

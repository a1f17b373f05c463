// What the models say of their parameters, for whoever varies a network without knowing its model: sweeps, what-if, help.
// Pure; any thread.
#pragma once

#include <span>
#include <string_view>

#include "netmodel/quantity.hpp"

namespace nplus1::netmodel {

/// What a parameter stands for, whatever the model calls it.
enum class Role : unsigned char { kOther, kLatency, kBandwidth, kTimePerByte, kEagerThreshold };

struct Parameter {
  std::string_view key;  // of the specification
  Quantity quantity;
  Role role = Role::kOther;
};

/// Of the model that the specification names ("lsb", "lsb:latency=1us"); none for a model that is not known.
[[nodiscard]] std::span<const Parameter> parameters_of(std::string_view specification);

/// The model's parameter of that role; null if it has none.
[[nodiscard]] const Parameter* parameter_of(std::string_view specification, Role role);

}  // namespace nplus1::netmodel

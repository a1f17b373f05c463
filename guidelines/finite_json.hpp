// Numbers of measurements in documents. Values only: any thread, no failure.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace nplus1::guidelines {

/// `value`, or null where it is none that JSON has (infinite, or not a number).
[[nodiscard]] inline nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

}  // namespace nplus1::guidelines

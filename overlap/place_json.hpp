// A place of the source in overlap.json and overlap-measured.json.
#pragma once

#include <nlohmann/json.hpp>

#include "overlap/results.hpp"

namespace nplus1::overlap {

inline nlohmann::ordered_json json_of(const Place& place) {
  nlohmann::ordered_json json;
  if (!place.function.empty()) json["function"] = place.function;
  json["file"] = place.file.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(place.file);
  json["line"] = place.line == 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(place.line);
  if (place.file.empty()) json["address"] = place.address;
  return json;
}

}  // namespace nplus1::overlap

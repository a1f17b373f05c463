#include "netmodel/specification.hpp"

#include <algorithm>
#include <cmath>

#include "netmodel/text.hpp"

namespace nplus1::netmodel {
namespace {

/// What messages about a list of KEY=VALUE speak of.
struct Context {
  std::string_view subject;
  std::string_view example;
};

std::optional<Error> add_item(std::string_view item, const Context& context, Specification& specification) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == item.size()) {
    return Error{in_quotes(item) + " in the " + std::string{context.subject} + " is not KEY=VALUE",
                 "An example: " + std::string{context.example} + "."};
  }
  const std::string_view key = item.substr(0, equals);
  const auto same = [key](const auto& value) { return value.first == key; };
  if (std::any_of(specification.values.begin(), specification.values.end(), same)) {
    return Error{in_quotes(key) + " is given twice in the " + std::string{context.subject},
                 "Keep one of the two."};
  }
  specification.values.emplace_back(key, item.substr(equals + 1));
  return std::nullopt;
}

std::optional<Error> out_of_limits(const Key& key, double value) {
  const std::string name = "network key " + in_quotes(key.name) + " ";
  if (value == 0 && !key.zero_allowed) return Error{name + "is zero", "Give a positive value."};
  if (key.quantity == Quantity::kTime && value > kLongestTime) {
    return Error{name + "is longer than " + format_number(kLongestTime) + " s",
                 "Plain numbers are seconds; write 1us for a microsecond."};
  }
  if (key.quantity == Quantity::kSize && (value >= kUnlimitedBytes || value != std::floor(value))) {
    return Error{name + "is not a whole number of bytes below 2^53",
                 "Leave it out if it is meant to be unlimited."};
  }
  return std::nullopt;
}

std::optional<Error> read_key(const Key& key, std::string_view text) {
  const Result<double> value = parse_quantity(text, key.quantity);
  if (!value)
    return Error{"network key " + in_quotes(key.name) + ": " + value.error().what, value.error().remedy};
  if (auto error = out_of_limits(key, value.value())) return error;
  *key.value = value.value();
  return std::nullopt;
}

}  // namespace

Result<Specification> parse_assignments(std::string_view text, std::string_view subject,
                                        std::string_view example) {
  Specification specification;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (auto error = add_item(text.substr(0, comma), {subject, example}, specification)) return *error;
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return *add_item(text, {subject, example}, specification);  // a comma at the end
  }
  return specification;
}

Result<Specification> parse_specification(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view keys = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  Result<Specification> specification =
      parse_assignments(keys, "network specification", "lsb:latency=1us,bandwidth=10GBps");
  if (specification) specification.value().name = text.substr(0, colon);
  return specification;
}

std::optional<Error> read_keys(const Specification& specification, std::span<const Key> keys) {
  for (const auto& [name, text] : specification.values) {
    const auto key = std::find_if(keys.begin(), keys.end(), [n = name](const Key& k) { return k.name == n; });
    if (key == keys.end()) {
      const std::string known = join(keys, [](const Key& k) { return std::string{k.name}; });
      return Error{"network " + in_quotes(specification.name) + " has no key " + in_quotes(name),
                   "Its keys are: " + known + "."};
    }
    if (auto error = read_key(*key, text)) return error;
  }
  return std::nullopt;
}

void describe_key(std::string& text, std::string_view key, double value) {
  text += text.find(':') == std::string::npos ? ':' : ',';
  text.append(key).append("=").append(format_number(value));
}

}  // namespace nplus1::netmodel

// "NAME:KEY=VALUE,..." taken apart, and read into a model's parameters. Private to netmodel.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "netmodel/quantity.hpp"
#include "support/result.hpp"

namespace nplus1::netmodel {

struct Specification {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string_view>> values;  // in the order given; no key twice
};

/// NAME or NAME:KEY=VALUE,... as views into `text`. Errors: an item that is not KEY=VALUE, a key given twice.
[[nodiscard]] Result<Specification> parse_specification(std::string_view text);

/// KEY=VALUE,... alone; the name stays empty. Messages speak of `subject` and show `example`.
[[nodiscard]] Result<Specification> parse_assignments(std::string_view text, std::string_view subject,
                                                      std::string_view example);

/// A key that a model knows. `value` holds the default before, and what was given after read_keys().
struct Key {
  std::string_view name;
  Quantity quantity;
  double* value;
  bool zero_allowed = true;
};

/// Times beyond this (seconds) are rejected or capped, so that sums of a few stay within Duration.
inline constexpr double kLongestTime = 1e6;

/// Sizes beyond this (bytes) aren't exact in a double; as a threshold it means "all sizes".
inline constexpr double kUnlimitedBytes = 9007199254740992.0;

/// Fills the keys from the specification; empty when all went well.
[[nodiscard]] std::optional<Error> read_keys(const Specification& specification, std::span<const Key> keys);

/// Appends "key=value" with the separator that belongs before it.
void describe_key(std::string& text, std::string_view key, double value);

}  // namespace nplus1::netmodel

// The transformations as the user writes them, on the command line or in a file
// (docs/formats/hypothesis.md): a verb and its settings. Pure functions, any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/result.hpp"

namespace nplus1::hypothesis::transform {

/// "scale" with "region" = "foo" and "factor" = "0.5".
struct Step {
  std::string verb;
  std::vector<std::pair<std::string, std::string>> settings;  // no key twice
  std::string where;                                          // "--scale", or "file.toml:3", for messages

  /// The setting's text, or null.
  [[nodiscard]] const std::string* find(std::string_view key) const;
  /// "scale region=foo,factor=0.5".
  [[nodiscard]] std::string text() const;
};

/// All verbs, for messages and for the command line.
struct Verb {
  std::string_view name;
  std::string_view help;
  std::vector<std::string_view> keys;
};
[[nodiscard]] const std::vector<Verb>& verbs();

/// KEY=VALUE,KEY=VALUE or "all". Errors name the verb's keys.
[[nodiscard]] Result<Step> parse_step(std::string_view verb, std::string_view text, std::string where);

/// A whole hypothesis: what a file says, or the command line, or both.
struct Hypothesis {
  std::vector<Step> steps;                   // in the order in which they are applied
  std::optional<std::string> network;        // as in nplus1 run
  std::optional<std::string> storage;        // of files, as in nplus1 run
  std::optional<std::string> collectives;    // algorithms, as in nplus1 run
  std::optional<std::string> eager;          // a size: the network's eager threshold
  std::optional<std::string> platform, map;  // a SimGrid platform instead of `network`
};

/// Reads a TOML file. Errors name file, line and what may stand there.
[[nodiscard]] Result<Hypothesis> read_hypothesis(const std::filesystem::path& file);
/// The same from text; `name` is what messages call it.
[[nodiscard]] Result<Hypothesis> parse_hypothesis(std::string_view text, const std::string& name);

}  // namespace nplus1::hypothesis::transform

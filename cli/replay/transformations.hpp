// The transformations of a hypothesis on the command line: a flag for each verb, and files. Shared by
// `nplus1 whatif` and re-enactments (`nplus1 replay --reenact`). One thread.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace nplus1::cli {

struct TransformationWords {
  std::map<std::string, std::vector<std::string>> settings;  // by verb: what the flags write to
  std::vector<std::pair<std::string, std::string>> steps;    // verb and settings, in the order given
  std::vector<std::string> files;                            // TOML (docs/formats/hypothesis.md)

  [[nodiscard]] bool empty() const { return steps.empty() && files.empty(); }
};

/// A flag for each verb, and --hypothesis. `about` goes before each help text.
void declare_transformations(CLI::App& verb, TransformationWords& words, const std::string& about);

/// Fills in `steps` in the order of the command line, which is the order in which they are applied. After
/// parsing.
void collect_transformations(const CLI::App& verb, TransformationWords& words);

}  // namespace nplus1::cli

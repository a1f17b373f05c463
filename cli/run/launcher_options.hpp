// The options that launchers have, as far as a line must be understood: how many words follow each. Pure; any thread.
#pragma once

#include <map>
#include <string>

#include "cli/run/launcher_line.hpp"

namespace nplus1::cli {

/// What follows an option.
enum class Takes : unsigned char {
  kNothing,
  kOne,
  kTwo,
  kVariable,  // NAME VALUE, or NAME=VALUE
  kJoined,    // a value only within the same word: -K1, --exclusive=user
  kRanks,     // the number of ranks
  kRefused,   // the job is described elsewhere, or there is none
};

struct LauncherOptions {
  const char* name;  // for messages
  bool getopt;       // GNU's getopt_long: clusters of letters, --long=value; else one dash is as two
  bool sections;     // programs are separated by ":"
  std::map<std::string, Takes> options;  // without dashes; letters and long ones
};

[[nodiscard]] const LauncherOptions& options_of(LauncherKind kind);

}  // namespace nplus1::cli

// The options of `nplus1 run` that say how a run is simulated and recorded: one row each. The command line declares,
// documents and checks its options by these rows, and hands their values on as the variables of the job's environment;
// the simulator reads these by the same rows, and tells the ranks their part in its Welcome. In nplus1.toml an option
// is the key of its flag's name. Errors of a row name what is not understood, and what would be; who asks adds the
// flag or the variable. Callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simnode/settings/run_settings.hpp"
#include "stubs/transport/handshake.hpp"
#include "support/result.hpp"

namespace nplus1::simnode::settings {

/// Where a value names a file: ranks and simulator may run in another folder than the command.
enum class Path : std::uint8_t {
  kNone,
  kWhole,       // the value is the name
  kIfThere,     // it is if there is such a file
  kAfterColon,  // KIND:FILE for some kinds
};

struct RunOption {
  const char* flag;      // "--network"
  const char* variable;  // "NPLUS1_NETWORK"
  const char* value;     // placeholder in --help; null: a switch
  const char* help;
  const char* choices = nullptr;  // "a|b|c", or null for free text
  const char* fallback = "";      // what an option is that is not given
  bool may_repeat = false;        // values are joined by blanks
  Path path = Path::kNone;
  /// Puts the value into the settings; those of the rows before are in there.
  std::optional<Error> (*take)(const std::string& value, RunSettings& settings);
  /// Tells the ranks, once all is known; null: they need not know, or know by themselves.
  void (*tell)(const RunSettings& settings, transport::Config& ranks) = nullptr;
};

[[nodiscard]] const std::vector<RunOption>& run_options();

/// Throws std::out_of_range if there is none.
[[nodiscard]] const RunOption& run_option(std::string_view flag);

/// The value as a process in any folder understands it.
[[nodiscard]] std::string absolute(const RunOption& option, const std::string& value);

/// Whether the value of a switch says yes.
[[nodiscard]] bool is_on(const std::string& value);

/// What the ranks are told of the settings.
[[nodiscard]] transport::Config told(const RunSettings& settings);

}  // namespace nplus1::simnode::settings

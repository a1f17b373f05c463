// `--host-speed`: a speed, the file of a measured host (`nplus1 calibrate --host`), or two of them, HERE:THERE[:KIND].
#pragma once

#include <string>

#include "cli/replay/replay.hpp"
#include "cli/run/run_options.hpp"

namespace nplus1::cli {

struct HostSpeed {
  std::string speed;  // what the platform's hosts are compared with; empty: nothing is
  double factor = 1;  // what measured compute times are multiplied with: of two files
  std::string words;  // for people: what that relies on; empty for a speed that was typed
};

/// Throws Failure (kUsage); `consequence` is what follows from that.
[[nodiscard]] HostSpeed host_speed_of(const std::string& text, const char* consequence);

/// What two files say becomes a factor of measured computing; with other computing that is refused. Says on stderr what it
/// relies on. Throws Failure (kUsage).
void apply_host_speed(RunOptions& options);
void apply_host_speed(ReplayWords& words);

}  // namespace nplus1::cli

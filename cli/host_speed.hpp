// `--host-speed`: a speed, the file of a measured host (`nplus1 calibrate --host`), or two of them, HERE:THERE[:KIND].
// What follows for a run and for a replay: run/host_speed.hpp, replay/host_speed.hpp.
#pragma once

#include <string>

namespace nplus1::cli {

struct HostSpeed {
  std::string speed;  // what the platform's hosts are compared with; empty: nothing is
  double factor = 1;  // what measured compute times are multiplied with: of two files
  std::string words;  // for people: what that relies on; empty for a speed that was typed
};

/// Throws Failure (kUsage); `consequence` is what follows from that.
[[nodiscard]] HostSpeed host_speed_of(const std::string& text, const char* consequence);

/// Throws Failure (kUsage): computing is given by `how`, and two hosts' files scale what is measured.
[[noreturn]] void refuse_host_speed(const std::string& how, const char* consequence);

}  // namespace nplus1::cli

// How the command line fails: one exception type, caught once in main(), with a documented exit code
// (docs/cli.md) and a message of three parts: what is wrong, what follows from it, what to do next.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "support/result.hpp"
#include "support/stopped.hpp"

namespace nplus1::cli {

/// Our own exit codes, after BSD's sysexits.h. A run that starts returns the application's code instead.
enum class ExitCode : int {
  kOk = 0,
  kNotReady = 1,      // doctor: the main job does not work here
  kLimit = 2,         // a condition of --fail-if holds
  kUsage = 64,        // the command line, a setting or an environment variable is wrong
  kUnsuitable = 65,   // the program can't be observed (static, setuid, other MPI, other machine)
  kNoInput = 66,      // program missing, not executable, a directory
  kUnavailable = 69,  // a part of nplus1 or mpirun is missing
  kSoftware = 70,     // a bug of ours
  kCantCreate = 73,   // the output folder
};

class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& cause, std::string consequence, std::string next)
      : std::runtime_error{cause},
        code_{code},
        consequence_{std::move(consequence)},
        next_{std::move(next)} {}

  [[nodiscard]] ExitCode code() const { return code_; }
  [[nodiscard]] const std::string& consequence() const { return consequence_; }
  [[nodiscard]] const std::string& next() const { return next_; }

 private:
  ExitCode code_;
  std::string consequence_;
  std::string next_;
};

inline constexpr const char* kNothingStarted = "nothing was started";
inline constexpr const char* kNothingShown = "nothing is shown";

/// The error as a Failure: with the exit code of its fault, or `otherwise` where it names none.
[[nodiscard]] inline Failure failure_of(const Error& error, ExitCode otherwise,
                                        const std::string& consequence) {
  ExitCode code = otherwise;
  if (error.fault == Fault::kUsage) code = ExitCode::kUsage;
  if (error.fault == Fault::kUnsuitable) code = ExitCode::kUnsuitable;
  if (error.fault == Fault::kInput) code = ExitCode::kNoInput;
  if (error.fault == Fault::kUnavailable) code = ExitCode::kUnavailable;
  if (error.fault == Fault::kBug) code = ExitCode::kSoftware;
  if (error.fault == Fault::kOutput) code = ExitCode::kCantCreate;
  return Failure{code, error.what, consequence, error.remedy};
}

/// The value; else throws the result's error as a Failure, of which `consequence` says what follows.
template <class T>
T or_fail(Result<T> result, ExitCode otherwise, const char* consequence) {
  if (!result) throw failure_of(result.error(), otherwise, consequence);
  return std::move(result).value();
}

/// What `work` returns; what stops it as a Failure, with its own consequence or else this one.
template <class Work>
auto done_or_fail(const Work& work, ExitCode otherwise, const char* consequence) {
  try {
    return work();
  } catch (const Stopped& stopped) {
    throw failure_of(stopped.error(), otherwise,
                     stopped.consequence().empty() ? consequence : stopped.consequence());
  }
}

}  // namespace nplus1::cli

#include "cli/failure.hpp"
#include "cli/replay.hpp"
namespace nplus1::cli {
int sweep(const ReplayWords&, const hypothesis::RecordedSettings&, events::recording::Reader&) {
  throw Failure{ExitCode::kUnavailable, "sweep", "", ""};
}
}  // namespace nplus1::cli

// What looks at the program beside its messages: call paths always; in recorded runs what a recording describes, accesses
// to the memory of messages, and twins that measure stretches of computing. Made at the end of MPI_Init; null where a run
// has no such thing.
#pragma once

#include <memory>

#include "stubs/clock/settings.hpp"
#include "stubs/guard/guard.hpp"
#include "stubs/runtime/capture/call_paths.hpp"
#include "stubs/runtime/capture/capture.hpp"
#include "stubs/runtime/line/line.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::stubs {

class Accesses;
class Runtime;
class Twins;

class Instruments {
 public:
  /// `settings` lose the recording of accesses where it cannot be.
  Instruments(Settings& settings, Line& line);
  Instruments(const Instruments&) = delete;
  Instruments& operator=(const Instruments&) = delete;
  ~Instruments();

  void begin_capture();
  void begin_accesses(RankId me);
  void begin_twins(Runtime& runtime);

  /// `type` is about to be freed: its handle may be given to another.
  void forget(MPI_Datatype type);

  [[nodiscard]] CallPaths& call_paths() { return *call_paths_; }
  /// The path to the current call.
  [[nodiscard]] CallSiteId site_id() { return call_paths_->id(call_site(), call_frame()); }
  /// Length of the interval before `call` at `return_address` by the compute table; negative if there is none.
  [[nodiscard]] Duration table_length(MpiCall call, const void* return_address);
  [[nodiscard]] Capture* capture() { return capture_.get(); }
  [[nodiscard]] Accesses* accesses() { return accesses_.get(); }
  [[nodiscard]] Twins* twins() { return twins_.get(); }

 private:
  Settings& settings_;
  Line& line_;
  std::unique_ptr<CallPaths> call_paths_;
  std::unique_ptr<Capture> capture_;
  std::unique_ptr<Accesses> accesses_;
  std::unique_ptr<Twins> twins_;
};

}  // namespace nplus1::stubs

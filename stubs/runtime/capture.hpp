// What a recording keeps of a call beyond what the simulator needs (events::Detail): real time, the data's
// place and type, and a send's hashes. Exists in runs that record; its time is never charged to the
// program's virtual clock, which stands still inside a Call. Called with the runtime's lock held.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "events/event.hpp"
#include "stubs/runtime/datatypes.hpp"
#include "stubs/runtime/settings.hpp"

namespace nplus1::stubs {

struct Payload {
  const void* buffer = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// The data of a call. Empty for calls that have none.
struct CallData {
  Payload shown;                  // as the application passed it
  KnownDatatype datatype{};       // of `shown`, where its type may have been freed since; id 0: look it up
  const Payload* sent = nullptr;  // what is to be hashed: the same data, perhaps a copy; null: nothing
};

class Capture {
 public:
  Capture(const Settings& settings, Datatypes::Define define);

  /// Whether events are recorded now: not where the program has paused it, nor outside of --record-region.
  [[nodiscard]] bool records() const { return !paused_ && (region_.empty() || inside_ > 0); }
  void pause(bool on) { paused_ = on; }
  /// A region begins; a region has ended.
  void enter(const std::string& region) {
    if (region == region_) ++inside_;
  }
  void leave(const std::string& region) {
    if (region == region_ && inside_ > 0) --inside_;
  }

  /// Fills in everything but the times. `hashed`: the bytes that were read for it.
  void describe(const CallData& data, events::Detail& detail, std::size_t& hashed);
  /// `sends`: with what hashing needs to know.
  [[nodiscard]] KnownDatatype datatype(MPI_Datatype type, bool sends);
  void forget(MPI_Datatype type) { datatypes_.forget(type); }

 private:
  std::size_t hash(const Payload& data, const KnownDatatype& type, events::Detail& detail);

  bool crc_;
  bool elements_;
  bool paused_ = false;
  std::string region_;
  unsigned inside_ = 0;
  Datatypes datatypes_;
  std::vector<std::byte> packed_;  // scratch
};

}  // namespace nplus1::stubs

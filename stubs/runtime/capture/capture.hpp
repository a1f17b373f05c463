// What a recording keeps of a call beyond what the simulator needs (events::Detail): real time, the data's
// place and type, and a send's hashes. Exists in runs that record; its time is never charged to the
// program's virtual clock, which stands still inside a Call. Called with the runtime's lock held.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "events/event.hpp"
#include "stubs/clock/settings.hpp"
#include "stubs/clock/thread_clock.hpp"
#include "stubs/runtime/arguments/datatypes.hpp"
#include "stubs/runtime/capture/kept_parts.hpp"

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
  /// A message of `bytes` was sent that `detail` describes: perhaps from where others are added to it later.
  void note_sent(const events::Detail& detail, std::int64_t bytes);

  /// Whether parts that a rank keeps are to be inferred.
  [[nodiscard]] bool infers() const { return infers_; }
  [[nodiscard]] KeptParts& kept_parts() { return kept_parts_; }
  /// What tells contents apart: a hash of the hashes.
  [[nodiscard]] std::uint64_t content_of(const Payload& data, const KnownDatatype& type);
  /// Memory for who needs a copy; anybody's until the next call.
  [[nodiscard]] std::vector<std::byte>& scratch() { return scratch_; }

  /// Time that the content of messages has taken so far.
  [[nodiscard]] std::int64_t hashing_ns() const {
    return static_cast<std::int64_t>(static_cast<double>(hashing_ticks_) * nanoseconds_per_tick());
  }
  /// `sends`: with what hashing needs to know.
  [[nodiscard]] KnownDatatype datatype(MPI_Datatype type, bool sends);
  void forget(MPI_Datatype type) { datatypes_.forget(type); }

 private:
  std::size_t hash(const Payload& data, const KnownDatatype& type, events::Detail& detail);

  events::payload::Choice content_;
  bool infers_;
  bool paused_ = false;
  std::string region_;
  unsigned inside_ = 0;
  Datatypes datatypes_;
  KeptParts kept_parts_;
  std::int64_t hashing_ticks_ = 0;
  std::vector<std::byte> packed_;  // of types that are packed for hashing
  std::vector<std::byte> scratch_;
};

}  // namespace nplus1::stubs

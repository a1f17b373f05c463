// Collects what an archive's events refer to, and writes it as OTF2's global definitions when all of it is known.
// One thread.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/definitions.hpp"
#include "events/exchange/exchange.hpp"

namespace nplus1::events::otf2 {

/// The location of a thread. Thread 0's is its rank, so that a rank of MPI_COMM_WORLD is a location.
[[nodiscard]] constexpr OTF2_LocationRef location_of(RankId rank, ThreadId thread) {
  return (OTF2_LocationRef{thread.value} << 32) | static_cast<std::uint32_t>(rank.value);
}

/// Lists that follow an Enter: one parameter record per entry.
enum ListParameter : OTF2_ParameterRef { kWords, kSizes, kCompleted };

class DefinitionWriter {
 public:
  explicit DefinitionWriter(std::int32_t ranks) : ranks_{ranks} {}

  void add(const Communicator& communicator) { communicators_[communicator.id.value] = communicator; }
  void add(const CallPath& path) { paths_[path.id.value] = path; }
  void add(const Region& region) { user_regions_[region.id.value] = region.name; }
  void add_property(const std::string& key, const std::string& value) { properties_[key] = value; }
  void add(const Datatype& datatype) { datatypes_[datatype.id.value] = datatype; }

  /// The region of an MPI call; of what is no MPI call for 0.
  [[nodiscard]] OTF2_RegionRef region(std::uint16_t call);
  [[nodiscard]] OTF2_RegionRef region(RegionId user_region);
  /// Null if it was never defined.
  [[nodiscard]] const Communicator* communicator(CommId id) const;

  struct Location {
    RankId rank;
    ThreadId thread;
    std::uint64_t events;
  };
  /// Everything at once; `last_time` is the latest time stamp.
  void write(OTF2_GlobalDefWriter* writer, const std::vector<Location>& locations, std::uint64_t last_time);

 private:
  OTF2_StringRef string(const std::string& text);
  OTF2_StringRef number(const char* before, std::uint64_t number);
  void write_places(const std::vector<Location>& locations);
  void write_regions();
  void write_communicators();
  OTF2_GroupRef write_group(const std::vector<RankId>& members, std::size_t from, std::size_t to);
  void write_paths();
  OTF2_CallingContextRef write_frame(const Frame& frame, OTF2_CallingContextRef parent);
  void write_property(OTF2_CallingContextRef context, const char* name, const std::string& value);
  void write_property(OTF2_CallingContextRef context, const char* name, std::uint64_t value);
  void write_attributes();
  void write_machine_properties();

  OTF2_GlobalDefWriter* writer_ = nullptr;
  std::int32_t ranks_;
  std::unordered_map<std::string, OTF2_StringRef> strings_;
  std::map<std::uint32_t, Communicator> communicators_;
  std::map<std::uint32_t, CallPath> paths_;
  std::map<std::uint32_t, std::string> user_regions_;
  std::map<std::uint32_t, Datatype> datatypes_;
  std::map<std::string, std::string> properties_;
  std::map<OTF2_RegionRef, std::string> regions_;
  OTF2_GroupRef groups_ = 0;
  OTF2_CallingContextRef contexts_ = 0;
  OTF2_SourceCodeLocationRef lines_ = 0;
  OTF2_RegionRef functions_ = 0;
};

}  // namespace nplus1::events::otf2

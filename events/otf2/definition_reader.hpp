// What an archive's global definitions say, in our terms: locations are threads of ranks, groups are lists of
// ranks. Runs in the child process that reads the archive (guarded.hpp). Throws Damaged.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/exchange/exchange.hpp"

namespace nplus1::events::otf2 {

/// The archive contradicts itself, or the library cannot read it.
struct Damaged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Place {
  OTF2_LocationRef location;
  OTF2_LocationGroupRef group;
  std::uint64_t events;  // as declared
  RankId rank;
  ThreadId thread;
};

struct Comm {
  OTF2_StringRef name = OTF2_UNDEFINED_STRING;
  OTF2_GroupRef group = OTF2_UNDEFINED_GROUP;
  OTF2_GroupRef remote = OTF2_UNDEFINED_GROUP;  // of an intercommunicator
  Communicator communicator;                    // `members` is empty for MPI_COMM_SELF
  bool self = false;
};

struct Group {
  OTF2_GroupType type;
  OTF2_GroupFlag flags;
  std::vector<std::uint64_t> members;
};

class DefinitionReader {
 public:
  /// Reads them all. `reader` must have been opened.
  void read(OTF2_Reader* reader);

  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  [[nodiscard]] const exchange::Preamble& preamble() const { return preamble_; }
  /// The archive is one of ours: its events carry our attributes.
  [[nodiscard]] bool is_ours() const { return ours_; }
  /// Virtual or real time of a tick, from the archive's first one on.
  [[nodiscard]] Time time(std::uint64_t ticks) const;
  [[nodiscard]] std::string region_name(OTF2_RegionRef region) const;
  /// Null if there is none.
  [[nodiscard]] const Comm* comm(OTF2_CommRef ref) const;
  /// The place of an attribute of ours in attributes(), by its reference.
  [[nodiscard]] std::optional<std::size_t> attribute(OTF2_AttributeRef ref) const;
  /// 0, 1, 2: words, sizes, completed.
  [[nodiscard]] std::optional<int> parameter(OTF2_ParameterRef ref) const;
  /// The region's number in our stream, for what is no MPI call.
  [[nodiscard]] RegionId user_region(OTF2_RegionRef region) const;

  /// Communicators, regions, call paths, datatypes.
  void feed(EventSink& sink) const;

  // For the callbacks.
  struct Context {
    OTF2_RegionRef region;
    OTF2_SourceCodeLocationRef line;
    OTF2_CallingContextRef parent;
    Frame frame;
    std::optional<std::uint64_t> site;
  };
  std::unordered_map<OTF2_StringRef, std::string> strings;
  std::unordered_map<OTF2_RegionRef, OTF2_StringRef> regions;
  std::map<OTF2_CommRef, Comm> comms;
  std::map<OTF2_GroupRef, Group> groups;
  std::optional<std::vector<std::uint64_t>> mpi_locations;  // apart: EZTrace gives its group's number twice
  std::map<OTF2_LocationRef, Place> locations;
  std::map<OTF2_LocationGroupRef, OTF2_LocationGroupType> location_groups;
  std::unordered_map<OTF2_AttributeRef, OTF2_StringRef> attribute_names;
  std::unordered_map<OTF2_ParameterRef, OTF2_StringRef> parameter_names;
  std::map<OTF2_CallingContextRef, Context> contexts;
  std::unordered_map<OTF2_SourceCodeLocationRef, std::pair<OTF2_StringRef, std::uint32_t>> lines;
  std::vector<std::pair<OTF2_StringRef, OTF2_StringRef>> machine_properties;
  std::uint64_t resolution = 0;
  std::uint64_t offset = 0;
  [[nodiscard]] std::string text(OTF2_StringRef ref) const;

 private:
  void number_ranks();
  void number_communicators();
  void number_regions();
  void read_machine_properties();
  [[nodiscard]] std::vector<RankId> ranks_of(OTF2_GroupRef group) const;
  [[nodiscard]] Frame frame_of(const Context& context) const;

  std::vector<Place> places_;
  std::map<OTF2_LocationRef, RankId> ranks_;  // by location
  std::vector<RankId> mpi_ranks_;             // by index in the group of all MPI locations
  std::unordered_map<OTF2_AttributeRef, std::size_t> attributes_;
  std::unordered_map<OTF2_ParameterRef, int> parameters_;
  std::unordered_map<OTF2_RegionRef, RegionId> user_regions_;
  std::vector<Datatype> datatypes_;
  std::vector<Region> our_regions_;
  exchange::Preamble preamble_;
  bool ours_ = false;
};

}  // namespace nplus1::events::otf2

// Collects what an archive's events refer to, and writes it as OTF2's global definitions when all of it is
// known. Tools want each kind of definition numbered from 0 in the order of the file, so numbers are given on
// first use. One thread.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
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
  /// The window that a communicator is, too. Empty if that was never defined.
  [[nodiscard]] std::optional<OTF2_RmaWinRef> window(CommId id);
  /// The file that a communicator is, too, opened by the name of a region. Empty if that was never defined.
  std::optional<OTF2_IoHandleRef> open_file(CommId id, RegionId name);
  /// The same of one that is open. Empty if it was opened where nothing was recorded.
  [[nodiscard]] std::optional<OTF2_IoHandleRef> file(CommId id) const;
  void add(const CallPath& path);
  void add(const Region& region) { user_regions_[region.id.value] = region.name; }
  void add_property(const std::string& key, const std::string& value) { properties_[key] = value; }
  void add(const Datatype& datatype) { datatypes_[datatype.id.value] = datatype; }

  /// The region of an MPI call; of what is no MPI call for 0.
  [[nodiscard]] OTF2_RegionRef region(std::uint16_t call);
  [[nodiscard]] OTF2_RegionRef region(RegionId user_region);
  /// Null if it was never defined.
  [[nodiscard]] const Communicator* communicator(CommId id) const;
  /// The calling context, and the source code location of the same number, of a call path that was added.
  [[nodiscard]] std::optional<OTF2_CallingContextRef> context(CallSiteId site) const;

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
  void write_windows();
  void write_files();
  OTF2_GroupRef write_group(const std::vector<RankId>& members);
  void write_paths();
  OTF2_RegionRef function(const Frame& frame);
  OTF2_RegionRef number_region(std::uint64_t key, const std::string& name, OTF2_Paradigm paradigm);
  void write_frame(OTF2_CallingContextRef self, const Frame& frame, OTF2_CallingContextRef parent);
  void write_property(OTF2_CallingContextRef context, const char* name, const std::string& value);
  void write_property(OTF2_CallingContextRef context, const char* name, std::uint64_t value);
  void write_attributes();
  void write_machine_properties();

  OTF2_GlobalDefWriter* writer_ = nullptr;
  std::int32_t ranks_;
  std::unordered_map<std::string, OTF2_StringRef> strings_;
  std::map<std::uint32_t, Communicator> communicators_;
  std::map<std::uint32_t, OTF2_RmaWinRef>
      windows_;  // in the order of their use, as readers want their numbers
  struct OpenFile {
    std::uint32_t comm;
    std::uint32_t name;  // a region's number
  };
  std::vector<OpenFile> files_;  // by handle
  std::unordered_map<std::uint32_t, OTF2_IoHandleRef> file_handles_;
  struct Path {
    CallPath path;
    std::vector<OTF2_CallingContextRef> contexts;  // innermost first, as the frames
  };
  struct NumberedRegion {
    std::string name;
    OTF2_Paradigm paradigm;
    std::string file;
    std::uint32_t line = 0;
  };
  std::map<std::uint32_t, Path> paths_;
  std::map<std::uint32_t, std::string> user_regions_;
  std::map<std::uint32_t, Datatype> datatypes_;
  std::map<std::string, std::string> properties_;
  std::vector<NumberedRegion> regions_;
  std::unordered_map<std::uint64_t, OTF2_RegionRef> region_numbers_;  // by call, or user region
  std::map<std::tuple<std::string, std::string, std::uint32_t>, OTF2_RegionRef> functions_;
  OTF2_GroupRef groups_ = 0;
  OTF2_CallingContextRef contexts_ = 0;
};

}  // namespace nplus1::events::otf2

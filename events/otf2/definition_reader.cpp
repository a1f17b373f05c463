#include "events/otf2/definition_reader.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "events/mpi_call.hpp"
#include "events/otf2/attributes.hpp"

namespace nplus1::events::otf2 {
namespace {

/// Numbers of call paths are dense; no run has more of them.
constexpr std::uint64_t kMostSites = 1U << 26U;

DefinitionReader& self_of(void* data) {
  return *static_cast<DefinitionReader*>(data);
}
constexpr OTF2_CallbackCode kOn = OTF2_CALLBACK_SUCCESS;

OTF2_CallbackCode on_clock(void* data, std::uint64_t resolution, std::uint64_t offset, std::uint64_t,
                           std::uint64_t) {
  self_of(data).resolution = resolution;
  self_of(data).offset = offset;
  return kOn;
}
OTF2_CallbackCode on_string(void* data, OTF2_StringRef self, const char* text) {
  self_of(data).strings[self] = text;
  return kOn;
}
OTF2_CallbackCode on_attribute(void* data, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef,
                               OTF2_Type) {
  self_of(data).attribute_names[self] = name;
  return kOn;
}
OTF2_CallbackCode on_parameter(void* data, OTF2_ParameterRef self, OTF2_StringRef name, OTF2_ParameterType) {
  self_of(data).parameter_names[self] = name;
  return kOn;
}
OTF2_CallbackCode on_location_group(void* data, OTF2_LocationGroupRef self, OTF2_StringRef,
                                    OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef,
                                    OTF2_LocationGroupRef) {
  self_of(data).location_groups[self] = type;
  return kOn;
}
OTF2_CallbackCode on_location(void* data, OTF2_LocationRef self, OTF2_StringRef, OTF2_LocationType type,
                              std::uint64_t events, OTF2_LocationGroupRef group) {
  if (type != OTF2_LOCATION_TYPE_CPU_THREAD) return kOn;  // metrics and accelerators make no MPI calls
  self_of(data).locations[self] = {self, group, events, RankId{-1}, ThreadId{0}};
  return kOn;
}
OTF2_CallbackCode on_region(void* data, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical,
                            OTF2_StringRef, OTF2_RegionRole, OTF2_Paradigm, OTF2_RegionFlag, OTF2_StringRef,
                            std::uint32_t, std::uint32_t) {
  self_of(data).regions[self] = name == OTF2_UNDEFINED_STRING ? canonical : name;
  return kOn;
}
OTF2_CallbackCode on_group(void* data, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type,
                           OTF2_Paradigm paradigm, OTF2_GroupFlag flags, std::uint32_t count,
                           const std::uint64_t* members) {
  if (paradigm != OTF2_PARADIGM_MPI) return kOn;
  if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
    self_of(data).mpi_locations.emplace(members, members + count);
  else
    self_of(data).groups[self] = {type, flags, {members, members + count}};
  return kOn;
}
OTF2_CallbackCode on_comm(void* data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                          OTF2_CommRef, OTF2_CommFlag) {
  self_of(data).comms[self] = {name, group, OTF2_UNDEFINED_GROUP, {}, false};
  return kOn;
}
OTF2_CallbackCode on_inter_comm(void* data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef first,
                                OTF2_GroupRef second, OTF2_CommRef, OTF2_CommFlag) {
  self_of(data).comms[self] = {name, first, second, {}, false};
  return kOn;
}
OTF2_CallbackCode on_line(void* data, OTF2_SourceCodeLocationRef self, OTF2_StringRef file,
                          std::uint32_t line) {
  self_of(data).lines[self] = {file, line};
  return kOn;
}
OTF2_CallbackCode on_context(void* data, OTF2_CallingContextRef self, OTF2_RegionRef region,
                             OTF2_SourceCodeLocationRef line, OTF2_CallingContextRef parent) {
  self_of(data).contexts[self] = {region, line, parent, {}, {}};
  return kOn;
}
OTF2_CallbackCode on_context_property(void* data, OTF2_CallingContextRef context, OTF2_StringRef name,
                                      OTF2_Type type, OTF2_AttributeValue value) {
  DefinitionReader& self = self_of(data);
  Frame& frame = self.contexts[context].frame;
  const std::string key = self.text(name);
  if (key == "nplus1::site" && type == OTF2_TYPE_UINT64) self.contexts[context].site = value.uint64;
  if (key == "nplus1::offset" && type == OTF2_TYPE_UINT64) frame.offset = value.uint64;
  if (key == "nplus1::module" && type == OTF2_TYPE_STRING) frame.module = self.text(value.stringRef);
  if (key == "nplus1::build_id" && type == OTF2_TYPE_STRING) frame.build_id = self.text(value.stringRef);
  return kOn;
}
OTF2_CallbackCode on_machine_property(void* data, OTF2_SystemTreeNodeRef, OTF2_StringRef name, OTF2_Type type,
                                      OTF2_AttributeValue value) {
  if (type == OTF2_TYPE_STRING) self_of(data).machine_properties.emplace_back(name, value.stringRef);
  return kOn;
}

struct DeleteCallbacks {
  void operator()(OTF2_GlobalDefReaderCallbacks* callbacks) const {
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
  }
};
using Callbacks = std::unique_ptr<OTF2_GlobalDefReaderCallbacks, DeleteCallbacks>;

Callbacks make_callbacks() {
  Callbacks all{OTF2_GlobalDefReaderCallbacks_New()};
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(all.get(), on_clock);
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(all.get(), on_string);
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(all.get(), on_attribute);
  OTF2_GlobalDefReaderCallbacks_SetParameterCallback(all.get(), on_parameter);
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(all.get(), on_location_group);
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(all.get(), on_location);
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(all.get(), on_region);
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(all.get(), on_group);
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(all.get(), on_comm);
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(all.get(), on_inter_comm);
  OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(all.get(), on_line);
  OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(all.get(), on_context);
  OTF2_GlobalDefReaderCallbacks_SetCallingContextPropertyCallback(all.get(), on_context_property);
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodePropertyCallback(all.get(), on_machine_property);
  return all;
}

bool is_mpi(const std::string& name) {
  return call_named(name).has_value();
}

}  // namespace

void DefinitionReader::read(OTF2_Reader* reader) {
  OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
  if (definitions == nullptr) throw Damaged{"the global definitions cannot be opened"};
  const Callbacks callbacks = make_callbacks();
  OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks.get(), this);
  std::uint64_t declared = 0;
  std::uint64_t count = 0;
  OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &declared);
  const auto status = OTF2_Reader_ReadGlobalDefinitions(reader, definitions, declared, &count);
  if (status != OTF2_SUCCESS || count != declared)
    throw Damaged{"of " + std::to_string(declared) + " global definitions " + std::to_string(count) +
                  " can be read"};
  OTF2_Reader_CloseGlobalDefReader(reader, definitions);
  if (resolution == 0) throw Damaged{"the clock has no resolution"};
  for (const auto& [ref, name] : attribute_names) {
    if (const auto place = attribute_named(text(name))) attributes_[ref] = *place;
  }
  for (const auto& [ref, name] : parameter_names) {
    const std::string lists[] = {"nplus1::words", "nplus1::sizes", "nplus1::completed"};
    const auto found = std::find(std::begin(lists), std::end(lists), text(name));
    if (found != std::end(lists)) parameters_[ref] = static_cast<int>(found - std::begin(lists));
  }
  ours_ = !attributes_.empty();
  number_ranks();
  number_communicators();
  number_regions();
  read_machine_properties();
}

std::string DefinitionReader::text(OTF2_StringRef ref) const {
  const auto found = strings.find(ref);
  return found == strings.end() ? std::string{} : found->second;
}

/// The i-th MPI location is rank i; without that list, a process is a rank, in the order of the definitions.
void DefinitionReader::number_ranks() {
  std::map<OTF2_LocationGroupRef, RankId> of_group;
  std::set<OTF2_LocationRef> first_threads;
  const bool listed = mpi_locations.has_value();
  if (listed) {
    for (const OTF2_LocationRef member : *mpi_locations) {
      const auto location = locations.find(member);
      if (location == locations.end()) throw Damaged{"an MPI rank is no location: " + std::to_string(member)};
      const RankId rank{static_cast<std::int32_t>(first_threads.size())};
      if (!first_threads.insert(member).second) throw Damaged{"a location is two MPI ranks"};
      of_group.try_emplace(location->second.group, rank);
      location->second.rank = rank;
    }
  }
  for (auto& [ref, place] : locations) {
    if (!listed) of_group.try_emplace(place.group, RankId{static_cast<std::int32_t>(of_group.size())});
    const auto rank = of_group.find(place.group);
    if (place.rank.value < 0 && rank != of_group.end()) place.rank = rank->second;
  }
  std::map<RankId, std::uint16_t> threads;
  for (auto& [ref, place] : locations) {
    if (place.rank.value < 0) continue;  // a process without MPI
    ranks_[ref] = place.rank;
    if (ours_) {
      place.thread = ThreadId{static_cast<std::uint16_t>(ref >> 32)};
    } else if (!listed || first_threads.count(ref) == 0) {
      place.thread = ThreadId{static_cast<std::uint16_t>(threads[place.rank] + (listed ? 1 : 0))};
      ++threads[place.rank];
    }
    places_.push_back(place);
  }
  preamble_.ranks = static_cast<std::int32_t>(listed ? first_threads.size() : of_group.size());
  if (preamble_.ranks < 1) throw Damaged{"there is no MPI process in it"};
  mpi_ranks_.resize(static_cast<std::size_t>(preamble_.ranks));
  for (std::size_t i = 0; i < mpi_ranks_.size(); ++i) mpi_ranks_[i] = RankId{static_cast<std::int32_t>(i)};
}

std::vector<RankId> DefinitionReader::ranks_of(OTF2_GroupRef ref) const {
  const auto found = groups.find(ref);
  if (found == groups.end()) throw Damaged{"a communicator without its group"};
  const Group& group = found->second;
  const bool by_location =
      group.type != OTF2_GROUP_TYPE_COMM_GROUP || (group.flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0;
  std::vector<RankId> members;
  for (const std::uint64_t member : group.members) {
    const auto location = ranks_.find(member);
    if (by_location ? location == ranks_.end() : member >= mpi_ranks_.size())
      throw Damaged{"a communicator has a member that does not exist: " + std::to_string(member)};
    members.push_back(by_location ? location->second : mpi_ranks_[member]);
  }
  return members;
}

/// 0 is MPI_COMM_WORLD, the first one of all ranks.
void DefinitionReader::number_communicators() {
  std::uint32_t next = 1;
  bool world = false;
  for (auto& [ref, comm] : comms) {
    const auto group = groups.find(comm.group);
    comm.self = group != groups.end() && group->second.type == OTF2_GROUP_TYPE_COMM_SELF;
    Communicator& ours = comm.communicator;
    if (!comm.self) ours.members = ranks_of(comm.group);
    if (comm.remote != OTF2_UNDEFINED_GROUP) {
      ours.first_group = ours.members.size();
      const auto remote = ranks_of(comm.remote);
      ours.members.insert(ours.members.end(), remote.begin(), remote.end());
    }
    const bool all = !comm.self && ours.first_group == 0 && ours.members == mpi_ranks_;
    ours.id = ours_ ? CommId{ref} : all && !world ? CommId{0} : CommId{next++};
    world = world || all;
  }
}

void DefinitionReader::number_regions() {
  std::map<OTF2_RegionRef, bool> ordered;
  for (const auto& [ref, name] : regions) ordered.emplace(ref, is_mpi(text(name)));
  std::uint32_t next = 0;
  for (const auto& [ref, mpi] : ordered) {
    if (!mpi) user_regions_[ref] = RegionId{next++};
  }
}

void DefinitionReader::read_machine_properties() {
  for (const auto& [name, value] : machine_properties) {
    const std::string key = text(name);
    const std::size_t space = key.find(' ');
    if (key.rfind("nplus1::", 0) != 0 || space == std::string::npos) continue;
    const std::string what = key.substr(8, space - 8);
    const std::string of = key.substr(space + 1);
    const std::string said = text(value);
    std::uint32_t id = 0;
    std::from_chars(of.data(), of.data() + of.size(), id);
    std::int64_t number = 0;
    const auto parsed = std::from_chars(said.data(), said.data() + said.size(), number);
    if (what == "property") preamble_.properties[of] = said;
    if (what == "region") our_regions_.push_back({RegionId{id}, said});
    if (what == "first_group" && comms.count(id) != 0)
      comms[id].communicator.first_group = static_cast<std::size_t>(number);
    if (what == "datatype") {
      const auto used = static_cast<std::size_t>(parsed.ptr - said.data());
      datatypes_.push_back({DatatypeId{id}, said.substr(std::min(used + 1, said.size())), number});
    }
  }
}

Time DefinitionReader::time(std::uint64_t ticks) const {
  if (resolution == 1'000'000'000'000) return Time{Duration{static_cast<std::int64_t>(ticks)}};
  const std::uint64_t since = ticks < offset ? 0 : ticks - offset;
  __extension__ using Wide = unsigned __int128;
  const Wide ps = static_cast<Wide>(since) * 1'000'000'000'000U / resolution;
  if (ps >= static_cast<Wide>(std::numeric_limits<std::int64_t>::max()))
    throw Damaged{"a time stamp beyond 106 days: " + std::to_string(ticks)};
  return Time{Duration{static_cast<std::int64_t>(ps)}};
}

std::string DefinitionReader::region_name(OTF2_RegionRef region) const {
  const auto found = regions.find(region);
  if (found == regions.end())
    throw Damaged{"an event in a region that is not defined: " + std::to_string(region)};
  return text(found->second);
}

const Comm* DefinitionReader::comm(OTF2_CommRef ref) const {
  const auto found = comms.find(ref);
  return found == comms.end() ? nullptr : &found->second;
}

std::optional<std::size_t> DefinitionReader::attribute(OTF2_AttributeRef ref) const {
  const auto found = attributes_.find(ref);
  return found == attributes_.end() ? std::nullopt : std::optional{found->second};
}

std::optional<int> DefinitionReader::parameter(OTF2_ParameterRef ref) const {
  const auto found = parameters_.find(ref);
  return found == parameters_.end() ? std::nullopt : std::optional{found->second};
}

RegionId DefinitionReader::user_region(OTF2_RegionRef region) const {
  const auto found = user_regions_.find(region);
  return found == user_regions_.end() ? RegionId{0} : found->second;
}

Frame DefinitionReader::frame_of(const Context& context) const {
  Frame frame = context.frame;
  if (const auto region = regions.find(context.region); region != regions.end())
    frame.function = text(region->second);
  if (const auto line = lines.find(context.line); line != lines.end()) {
    frame.file = text(line->second.first);
    frame.line = line->second.second;
  }
  return frame;
}

void DefinitionReader::feed(EventSink& sink) const {
  for (const auto& [ref, comm] : comms) {
    if (!comm.self) sink.on_communicator(comm.communicator);
  }
  for (const Datatype& datatype : datatypes_) sink.on_datatype(datatype);
  if (!ours_) {
    for (const auto& [ref, id] : user_regions_) sink.on_region({id, text(regions.at(ref))});
    return;
  }
  for (const Region& region : our_regions_) sink.on_region(region);
  for (const auto& [ref, context] : contexts) {
    if (!context.site || *context.site >= kMostSites) continue;
    CallPath path{CallSiteId{static_cast<std::uint32_t>(*context.site)}, {frame_of(context)}};
    auto parent = contexts.find(context.parent);
    for (; parent != contexts.end() && path.frames.size() < 1000;
         parent = contexts.find(parent->second.parent))
      path.frames.push_back(frame_of(parent->second));
    sink.on_call_path(path);
  }
}

}  // namespace nplus1::events::otf2

#include "events/otf2/definition_writer.hpp"

#include <numeric>

#include "events/exchange/checked_sink.hpp"
#include "events/mpi_call.hpp"
#include "events/otf2/attributes.hpp"

namespace nplus1::events::otf2 {
namespace {

constexpr OTF2_RegionRef kUserRegions = 1U << 16;
constexpr OTF2_RegionRef kFunctions = 1U << 28;
constexpr OTF2_GroupRef kAllLocations = 0;

std::string region_name(std::uint16_t call) {
  return call == 0 ? "(no MPI call)" : std::string{name(static_cast<MpiCall>(call))};
}

OTF2_AttributeValue value_of(std::uint64_t number) {
  OTF2_AttributeValue value{};
  value.uint64 = number;
  return value;
}

}  // namespace

OTF2_RegionRef DefinitionWriter::region(std::uint16_t call) {
  const auto known = call < kMpiCalls ? call : std::uint16_t{0};
  auto& name = regions_[known];
  if (name.empty()) name = region_name(known);
  return known;
}

OTF2_RegionRef DefinitionWriter::region(RegionId user_region) {
  user_regions_.try_emplace(user_region.value, "region " + std::to_string(user_region.value));
  return kUserRegions + user_region.value;
}

const Communicator* DefinitionWriter::communicator(CommId id) const {
  const auto found = communicators_.find(id.value);
  return found == communicators_.end() ? nullptr : &found->second;
}

OTF2_StringRef DefinitionWriter::string(const std::string& text) {
  const auto [place, is_new] = strings_.try_emplace(text, static_cast<OTF2_StringRef>(strings_.size()));
  if (is_new) OTF2_GlobalDefWriter_WriteString(writer_, place->second, text.c_str());
  return place->second;
}

OTF2_StringRef DefinitionWriter::number(const char* before, std::uint64_t number) {
  return string(before + std::to_string(number));
}

void DefinitionWriter::write(OTF2_GlobalDefWriter* writer, const std::vector<Location>& locations,
                             std::uint64_t last_time) {
  writer_ = writer;
  OTF2_GlobalDefWriter_WriteClockProperties(writer, 1'000'000'000'000, 0, last_time, OTF2_UNDEFINED_TIMESTAMP);
  OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_MPI, string("MPI"), OTF2_PARADIGM_CLASS_PROCESS);
  write_attributes();
  write_places(locations);
  write_machine_properties();
  write_paths();
  write_regions();
  write_communicators();
}

void DefinitionWriter::write_attributes() {
  const auto write = [this](std::size_t self, const char* name, OTF2_Type type) {
    OTF2_GlobalDefWriter_WriteAttribute(writer_, static_cast<OTF2_AttributeRef>(self), string(name), string(""), type);
  };
  for (std::size_t i = 0; i < attributes().size(); ++i) write(i, attributes()[i].name.c_str(), attributes()[i].type);
  write(attributes().size(), "nplus1::source", OTF2_TYPE_SOURCE_CODE_LOCATION);
  write(attributes().size() + 1, "nplus1::call_path", OTF2_TYPE_CALLING_CONTEXT);
  const auto list = [this](ListParameter self, const char* name, OTF2_ParameterType type) {
    OTF2_GlobalDefWriter_WriteParameter(writer_, self, string(name), type);
  };
  list(kWords, "nplus1::words", OTF2_PARAMETER_TYPE_UINT64);
  list(kSizes, "nplus1::sizes", OTF2_PARAMETER_TYPE_INT64);
  list(kCompleted, "nplus1::completed", OTF2_PARAMETER_TYPE_UINT64);
}

void DefinitionWriter::write_places(const std::vector<Location>& locations) {
  OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, 0, string("simulated machine"), string("machine"),
                                           OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  for (std::int32_t rank = 0; rank < ranks_; ++rank) {
    OTF2_GlobalDefWriter_WriteLocationGroup(writer_, static_cast<OTF2_LocationGroupRef>(rank),
                                            number("rank ", static_cast<std::uint64_t>(rank)),
                                            OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP);
  }
  for (const Location& location : locations) {
    OTF2_GlobalDefWriter_WriteLocation(writer_, location_of(location.rank, location.thread),
                                       number("thread ", location.thread.value), OTF2_LOCATION_TYPE_CPU_THREAD,
                                       location.events, static_cast<OTF2_LocationGroupRef>(location.rank.value));
  }
}

/// OTF2 has neither datatypes nor free properties of a run.
void DefinitionWriter::write_machine_properties() {
  const auto write = [this](const std::string& name, const std::string& value) {
    OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(writer_, 0, string(name), OTF2_TYPE_STRING,
                                                     value_of(string(value)));
  };
  for (const auto& [key, value] : properties_) write("nplus1::property " + key, value);
  for (const auto& [id, datatype] : datatypes_)
    write("nplus1::datatype " + std::to_string(id), std::to_string(datatype.bytes) + " " + datatype.name);
}

void DefinitionWriter::write_regions() {
  const auto write = [this](OTF2_RegionRef self, const std::string& name, OTF2_RegionRole role, OTF2_Paradigm paradigm) {
    OTF2_GlobalDefWriter_WriteRegion(writer_, self, string(name), string(name), string(""), role, paradigm,
                                     OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0);
  };
  for (const auto& [self, name] : regions_) {
    write(self, name, OTF2_REGION_ROLE_FUNCTION, self == 0 ? OTF2_PARADIGM_USER : OTF2_PARADIGM_MPI);
  }
  for (const auto& [id, name] : user_regions_) {
    write(kUserRegions + id, name, OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER);
  }
}

OTF2_GroupRef DefinitionWriter::write_group(const std::vector<RankId>& members, std::size_t from, std::size_t to) {
  std::vector<std::uint64_t> ranks;
  for (std::size_t i = from; i < to; ++i) ranks.push_back(members[i].index());
  OTF2_GlobalDefWriter_WriteGroup(writer_, ++groups_, string(""), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                  OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(ranks.size()), ranks.data());
  return groups_;
}

void DefinitionWriter::write_communicators() {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks_));
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  OTF2_GlobalDefWriter_WriteGroup(writer_, kAllLocations, string("ranks"), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                  OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(ranks_),
                                  all.data());
  for (const auto& [id, communicator] : communicators_) {
    const auto& members = communicator.members;
    const OTF2_StringRef name = id == 0 ? string("MPI_COMM_WORLD") : number("communicator ", id);
    const std::size_t first = communicator.first_group;
    const OTF2_GroupRef group = write_group(members, 0, first == 0 ? members.size() : first);
    if (first == 0) {
      OTF2_GlobalDefWriter_WriteComm(writer_, id, name, group, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    } else {
      const OTF2_GroupRef remote = write_group(members, first, members.size());
      OTF2_GlobalDefWriter_WriteInterComm(writer_, id, name, group, remote, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    }
  }
}

/// A call path's innermost context has the call path's number; its callers are contexts from kMaxId on.
void DefinitionWriter::write_paths() {
  contexts_ = exchange::kMaxId;
  lines_ = exchange::kMaxId;
  for (const auto& [id, path] : paths_) {
    OTF2_CallingContextRef parent = OTF2_UNDEFINED_CALLING_CONTEXT;
    for (std::size_t i = path.frames.size(); i-- > 1;) parent = write_frame(path.frames[i], parent);
    const auto contexts = std::exchange(contexts_, id);
    const auto lines = std::exchange(lines_, id);
    write_frame(path.frames.empty() ? Frame{} : path.frames.front(), parent);
    contexts_ = contexts;
    lines_ = lines;
  }
}

OTF2_CallingContextRef DefinitionWriter::write_frame(const Frame& frame, OTF2_CallingContextRef parent) {
  const OTF2_CallingContextRef self = contexts_++;
  const OTF2_RegionRef function = kFunctions + functions_++;
  OTF2_GlobalDefWriter_WriteRegion(writer_, function, string(frame.function), string(frame.function), string(""),
                                   OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE,
                                   string(frame.file), frame.line, 0);
  OTF2_GlobalDefWriter_WriteSourceCodeLocation(writer_, lines_, string(frame.file), frame.line);
  OTF2_GlobalDefWriter_WriteCallingContext(writer_, self, function, lines_++, parent);
  if (!frame.module.empty()) write_property(self, "nplus1::module", frame.module);
  if (!frame.build_id.empty()) write_property(self, "nplus1::build_id", frame.build_id);
  if (frame.offset != 0) write_property(self, "nplus1::offset", frame.offset);
  return self;
}

void DefinitionWriter::write_property(OTF2_CallingContextRef context, const char* name, const std::string& value) {
  OTF2_GlobalDefWriter_WriteCallingContextProperty(writer_, context, string(name), OTF2_TYPE_STRING,
                                                   value_of(string(value)));
}

void DefinitionWriter::write_property(OTF2_CallingContextRef context, const char* name, std::uint64_t value) {
  OTF2_GlobalDefWriter_WriteCallingContextProperty(writer_, context, string(name), OTF2_TYPE_UINT64, value_of(value));
}

}  // namespace nplus1::events::otf2

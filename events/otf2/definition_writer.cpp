#include "events/otf2/definition_writer.hpp"

#include <numeric>

#include "events/mpi_call.hpp"
#include "events/otf2/attributes.hpp"

namespace nplus1::events::otf2 {
namespace {

constexpr std::uint64_t kUserRegions = 1U << 16;  // beyond the numbers of calls
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

void DefinitionWriter::add(const CallPath& path) {
  Path& known = paths_[path.id.value];
  known.path = path;
  if (known.path.frames.empty()) known.path.frames.emplace_back();
  // Parents come first. Once numbered, the innermost stays; frames that are known later get numbers of their
  // own.
  while (known.contexts.size() < known.path.frames.size()) {
    const bool first = known.contexts.empty() || known.contexts.front() + 1 == contexts_;
    if (first)
      known.contexts.insert(known.contexts.begin(), contexts_++);
    else
      known.contexts.push_back(contexts_++);
  }
}

std::optional<OTF2_CallingContextRef> DefinitionWriter::context(CallSiteId site) const {
  const auto found = paths_.find(site.value);
  return found == paths_.end() ? std::nullopt : std::optional{found->second.contexts.front()};
}

OTF2_RegionRef DefinitionWriter::number_region(std::uint64_t key, const std::string& name,
                                               OTF2_Paradigm paradigm) {
  const auto [place, is_new] = region_numbers_.try_emplace(key, static_cast<OTF2_RegionRef>(regions_.size()));
  if (is_new) regions_.push_back({name, paradigm, {}, 0});
  return place->second;
}

OTF2_RegionRef DefinitionWriter::region(std::uint16_t call) {
  const auto known = call < kMpiCalls ? call : std::uint16_t{0};
  return number_region(known, region_name(known), known == 0 ? OTF2_PARADIGM_USER : OTF2_PARADIGM_MPI);
}

OTF2_RegionRef DefinitionWriter::region(RegionId id) {
  const auto name = user_regions_.try_emplace(id.value, "region " + std::to_string(id.value)).first;
  return number_region(kUserRegions + id.value, name->second, OTF2_PARADIGM_USER);
}

OTF2_RegionRef DefinitionWriter::function(const Frame& frame) {
  const auto [place, is_new] = functions_.try_emplace({frame.function, frame.file, frame.line},
                                                      static_cast<OTF2_RegionRef>(regions_.size()));
  if (is_new) regions_.push_back({frame.function, OTF2_PARADIGM_USER, frame.file, frame.line});
  return place->second;
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
  OTF2_GlobalDefWriter_WriteClockProperties(writer, 1'000'000'000'000, 0, last_time,
                                            OTF2_UNDEFINED_TIMESTAMP);
  OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_MPI, string("MPI"), OTF2_PARADIGM_CLASS_PROCESS);
  write_attributes();
  write_places(locations);
  write_machine_properties();
  write_regions();
  write_paths();
  write_communicators();
}

void DefinitionWriter::write_attributes() {
  const auto write = [this](std::size_t self, const char* name, OTF2_Type type) {
    OTF2_GlobalDefWriter_WriteAttribute(writer_, static_cast<OTF2_AttributeRef>(self), string(name),
                                        string(""), type);
  };
  for (std::size_t i = 0; i < attributes().size(); ++i)
    write(i, attributes()[i].name.c_str(), attributes()[i].type);
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
    OTF2_GlobalDefWriter_WriteLocationGroup(
        writer_, static_cast<OTF2_LocationGroupRef>(rank), number("rank ", static_cast<std::uint64_t>(rank)),
        OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP);
  }
  for (const Location& location : locations) {
    OTF2_GlobalDefWriter_WriteLocation(writer_, location_of(location.rank, location.thread),
                                       number("thread ", location.thread.value),
                                       OTF2_LOCATION_TYPE_CPU_THREAD, location.events,
                                       static_cast<OTF2_LocationGroupRef>(location.rank.value));
  }
}

/// OTF2 has neither datatypes nor free properties of a run.
void DefinitionWriter::write_machine_properties() {
  const auto write = [this](const std::string& name, const std::string& value) {
    OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(writer_, 0, string(name), OTF2_TYPE_STRING,
                                                     value_of(string(value)));
  };
  for (const auto& [key, value] : properties_) write("nplus1::property " + key, value);
  for (const auto& [id, name] : user_regions_) write("nplus1::region " + std::to_string(id), name);
  for (const auto& [id, communicator] : communicators_) {
    if (communicator.first_group != 0)
      write("nplus1::first_group " + std::to_string(id), std::to_string(communicator.first_group));
  }
  for (const auto& [id, datatype] : datatypes_)
    write("nplus1::datatype " + std::to_string(id), std::to_string(datatype.bytes) + " " + datatype.name);
}

void DefinitionWriter::write_regions() {
  for (const auto& [id, path] : paths_) {
    for (const Frame& frame : path.path.frames) function(frame);
  }
  for (OTF2_RegionRef self = 0; self < regions_.size(); ++self) {
    const NumberedRegion& region = regions_[self];
    const OTF2_StringRef name = string(region.name);
    OTF2_GlobalDefWriter_WriteRegion(writer_, self, name, name, string(""), OTF2_REGION_ROLE_FUNCTION,
                                     region.paradigm, OTF2_REGION_FLAG_NONE, string(region.file), region.line,
                                     0);
  }
}

std::optional<OTF2_RmaWinRef> DefinitionWriter::window(CommId id) {
  if (communicator(id) == nullptr) return std::nullopt;
  return windows_.try_emplace(id.value, static_cast<OTF2_RmaWinRef>(windows_.size())).first->second;
}

std::optional<OTF2_IoHandleRef> DefinitionWriter::open_file(CommId id, RegionId name) {
  if (communicator(id) == nullptr) return std::nullopt;
  const auto [place, is_new] =
      file_handles_.try_emplace(id.value, static_cast<OTF2_IoHandleRef>(files_.size()));
  if (is_new) files_.push_back({id.value, static_cast<std::uint32_t>(name.value)});
  return place->second;
}

std::optional<OTF2_IoHandleRef> DefinitionWriter::file(CommId id) const {
  const auto found = file_handles_.find(id.value);
  return found == file_handles_.end() ? std::nullopt : std::optional{found->second};
}

/// A file for each name, in the order of their use.
void DefinitionWriter::write_files() {
  if (files_.empty()) return;
  constexpr OTF2_IoParadigmRef kMpiIo = 0;
  constexpr OTF2_SystemTreeNodeRef kMachine = 0;
  OTF2_GlobalDefWriter_WriteIoParadigm(writer_, kMpiIo, string("MPI-IO"), string("MPI-IO"),
                                       OTF2_IO_PARADIGM_CLASS_PARALLEL, OTF2_IO_PARADIGM_FLAG_NONE, 0,
                                       nullptr, nullptr, nullptr);
  std::map<std::uint32_t, OTF2_IoFileRef> by_name;
  for (OTF2_IoHandleRef handle = 0; handle < files_.size(); ++handle) {
    const OpenFile& file = files_[handle];
    const OTF2_StringRef name = string(user_regions_[file.name]);
    const auto [place, is_new] = by_name.try_emplace(file.name, static_cast<OTF2_IoFileRef>(by_name.size()));
    if (is_new) OTF2_GlobalDefWriter_WriteIoRegularFile(writer_, place->second, name, kMachine);
    OTF2_GlobalDefWriter_WriteIoHandle(writer_, handle, name, place->second, kMpiIo, OTF2_IO_HANDLE_FLAG_NONE,
                                       file.comm, OTF2_UNDEFINED_IO_HANDLE);
  }
}

OTF2_GroupRef DefinitionWriter::write_group(const std::vector<RankId>& members) {
  std::vector<std::uint64_t> ranks;
  for (const RankId member : members) ranks.push_back(member.index());
  OTF2_GlobalDefWriter_WriteGroup(writer_, ++groups_, string(""), OTF2_GROUP_TYPE_COMM_GROUP,
                                  OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                  static_cast<std::uint32_t>(ranks.size()), ranks.data());
  return groups_;
}

void DefinitionWriter::write_communicators() {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks_));
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  OTF2_GlobalDefWriter_WriteGroup(writer_, kAllLocations, string("ranks"), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                  OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(ranks_),
                                  all.data());
  for (const auto& [id, communicator] : communicators_) {
    const OTF2_StringRef name = id == 0 ? string("MPI_COMM_WORLD") : number("communicator ", id);
    // python3-otf2 3.0.2 cannot read InterComm: intercommunicators are the union of their groups.
    OTF2_GlobalDefWriter_WriteComm(writer_, id, name, write_group(communicator.members), OTF2_UNDEFINED_COMM,
                                   OTF2_COMM_FLAG_NONE);
  }
  write_windows();
  write_files();
}

void DefinitionWriter::write_windows() {
  std::vector<std::uint32_t> in_order(windows_.size());
  for (const auto& [id, window] : windows_) in_order[window] = id;
  for (OTF2_RmaWinRef window = 0; window < in_order.size(); ++window)
    OTF2_GlobalDefWriter_WriteRmaWin(writer_, window, number("window ", in_order[window]), in_order[window],
                                     OTF2_RMA_WIN_FLAG_NONE);
}

void DefinitionWriter::write_paths() {
  std::map<OTF2_CallingContextRef, const Path*> in_order;  // of their numbers, as readers want them
  for (const auto& [id, path] : paths_) in_order[path.contexts.front()] = &path;
  for (const auto& [context, path] : in_order) {
    const auto& frames = path->path.frames;
    OTF2_CallingContextRef parent = OTF2_UNDEFINED_CALLING_CONTEXT;
    for (std::size_t i = frames.size(); i-- > 0;) {
      write_frame(path->contexts[i], frames[i], parent);
      parent = path->contexts[i];
    }
    write_property(context, "nplus1::site", path->path.id.value);
  }
}

void DefinitionWriter::write_frame(OTF2_CallingContextRef self, const Frame& frame,
                                   OTF2_CallingContextRef parent) {
  OTF2_GlobalDefWriter_WriteSourceCodeLocation(writer_, self, string(frame.file), frame.line);
  OTF2_GlobalDefWriter_WriteCallingContext(writer_, self, function(frame), self, parent);
  if (!frame.module.empty()) write_property(self, "nplus1::module", frame.module);
  if (!frame.build_id.empty()) write_property(self, "nplus1::build_id", frame.build_id);
  if (frame.offset != 0) write_property(self, "nplus1::offset", frame.offset);
}

void DefinitionWriter::write_property(OTF2_CallingContextRef context, const char* name,
                                      const std::string& value) {
  OTF2_GlobalDefWriter_WriteCallingContextProperty(writer_, context, string(name), OTF2_TYPE_STRING,
                                                   value_of(string(value)));
}

void DefinitionWriter::write_property(OTF2_CallingContextRef context, const char* name, std::uint64_t value) {
  OTF2_GlobalDefWriter_WriteCallingContextProperty(writer_, context, string(name), OTF2_TYPE_UINT64,
                                                   value_of(value));
}

}  // namespace nplus1::events::otf2

#include "stubs/runtime/arguments/datatypes.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/arguments.hpp"

namespace nplus1::stubs {
namespace {

/// The largest type whose packing is tried out.
constexpr MPI_Count kMostProbed = 1 << 24;

const char* constructor_name(int combiner) {
  switch (combiner) {
    case MPI_COMBINER_DUP:
      return "MPI_Type_dup";
    case MPI_COMBINER_CONTIGUOUS:
      return "MPI_Type_contiguous";
    case MPI_COMBINER_VECTOR:
      return "MPI_Type_vector";
    case MPI_COMBINER_HVECTOR:
      return "MPI_Type_create_hvector";
    case MPI_COMBINER_INDEXED:
      return "MPI_Type_indexed";
    case MPI_COMBINER_HINDEXED:
      return "MPI_Type_create_hindexed";
    case MPI_COMBINER_INDEXED_BLOCK:
      return "MPI_Type_create_indexed_block";
    case MPI_COMBINER_HINDEXED_BLOCK:
      return "MPI_Type_create_hindexed_block";
    case MPI_COMBINER_STRUCT:
      return "MPI_Type_create_struct";
    case MPI_COMBINER_SUBARRAY:
      return "MPI_Type_create_subarray";
    case MPI_COMBINER_DARRAY:
      return "MPI_Type_create_darray";
    case MPI_COMBINER_RESIZED:
      return "MPI_Type_create_resized";
    default:
      return "MPI_Type";
  }
}

/// "MPI_Type_vector(MPI_DOUBLE)": the constructor and its different element types.
std::string constructed(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  pmpi::Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  std::vector<int> numbers(static_cast<std::size_t>(integers) + 1);
  std::vector<MPI_Aint> offsets(static_cast<std::size_t>(addresses) + 1);
  std::vector<MPI_Datatype> parts(static_cast<std::size_t>(types) + 1, MPI_DATATYPE_NULL);
  pmpi::Type_get_contents(type, integers, addresses, types, numbers.data(), offsets.data(), parts.data());
  parts.pop_back();
  std::vector<std::string> names;
  for (MPI_Datatype& part : parts) {
    const std::string name = name_of(part);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    if (!is_named(part)) pmpi::Type_free(&part);  // MPI gave us a handle of our own
  }
  std::string text = std::string{constructor_name(combiner)} + '(';
  for (const std::string& name : names) text += (&name == &names.front() ? "" : ", ") + name;
  return text + ')';
}

/// Whether an element is packed byte by byte as it lies in memory. Tried out on bytes that differ from place
/// to place: a type may cover its extent and still permute it.
bool is_plain(MPI_Datatype type, MPI_Count size, MPI_Count extent) {
  MPI_Count first = 0;
  MPI_Count span = 0;
  pmpi::Type_get_true_extent_x(type, &first, &span);
  if (first != 0 || span != size || extent != size || size == 0) return false;
  if (is_named(type)) return true;
  if (size > kMostProbed) return false;
  std::vector<unsigned char> bytes(static_cast<std::size_t>(size));
  std::uint64_t state = 0x9e3779b97f4a7c15u;
  for (unsigned char& b : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    b = static_cast<unsigned char>(state >> 56);
  }
  std::vector<unsigned char> packed(bytes.size());
  MPI_Count position = 0;
  pmpi::Pack(bytes.data(), MPI_Count{1}, type, packed.data(), size, &position, quiet_self());
  return position == size && bytes == packed;
}

}  // namespace

std::string name_of(MPI_Datatype type) {
  char name[MPI_MAX_OBJECT_NAME] = {};
  int length = 0;
  pmpi::Type_get_name(type, name, &length);
  return length > 0 ? std::string{name, static_cast<std::size_t>(length)} : constructed(type);
}

void Datatypes::remember(MPI_Datatype type) {
  const auto [place, is_new] = known_.try_emplace(type);
  last_type_ = type;
  last_ = &place->second;
  if (!is_new) return;
  KnownDatatype& known = place->second;
  MPI_Count lower = 0;
  pmpi::Type_size_x(type, &known.size);
  pmpi::Type_get_extent_x(type, &lower, &known.extent);
  pmpi::Type_get_true_extent_x(type, &known.first, &known.span);
  const std::string name = name_of(type);
  const auto [id, first] = ids_.emplace(std::to_string(known.size) + ' ' + name,
                                        DatatypeId{static_cast<std::uint32_t>(ids_.size() + 1)});
  known.id = id->second;
  known.element = events::payload::element_type(name, static_cast<std::int64_t>(known.size));
  if (first) define_(known.id, name, known.size);
}

void Datatypes::probe(MPI_Datatype type, KnownDatatype& known) {
  known.plain = is_plain(type, known.size, known.extent);
  known.probed = true;
}

void Datatypes::forget(MPI_Datatype type) {
  known_.erase(type);
  last_ = nullptr;
}

}  // namespace nplus1::stubs

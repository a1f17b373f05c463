#include "events/otf2/attributes.hpp"

#include <map>
#include <type_traits>

#include "events/exchange/fields.hpp"

namespace nplus1::events::otf2 {
namespace {

template <class T>
constexpr OTF2_Type type_of() {
  if constexpr (std::is_enum_v<T>)
    return type_of<std::underlying_type_t<T>>();
  else if constexpr (sizeof(T) == 1)
    return OTF2_TYPE_UINT8;
  else if constexpr (sizeof(T) == 2)
    return OTF2_TYPE_UINT16;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? OTF2_TYPE_INT32 : OTF2_TYPE_UINT32;
  else
    return std::is_signed_v<T> ? OTF2_TYPE_INT64 : OTF2_TYPE_UINT64;
}

/// Gives every field, whatever it is, to one function.
template <class Function>
struct Each {
  Function function;
  void number(const char* name, auto& field) { function(name, field); }
  void hex(const char* name, auto& field) { function(name, field); }
  void kind(const char* name, auto& field) { function(name, field); }
  void call(const char* name, auto& field) { function(name, field); }
  void operation(const char* name, auto, auto& field) { function(name, field); }
  void answer(const char* name, auto& field) { function(name, field); }
};
template <class Function>
Each(Function) -> Each<Function>;

/// What a StoredEvent has beside its three structures.
struct Rest {
  std::int64_t exit_ps = 0;
  std::uint64_t ordinal = 0;
  std::uint8_t has_detail = 0;
};

void visit_all(auto& event, auto& answer, auto& detail, auto& rest, auto function) {
  Each each{function};
  exchange::visit_event(event, each);
  exchange::visit_answer(answer, each);
  exchange::visit_detail(detail, each);
  function("exit_ps", rest.exit_ps);
  function("ordinal", rest.ordinal);
  function("detail", rest.has_detail);
}

template <class T>
std::uint64_t bits(T field) {
  return static_cast<std::uint64_t>(field);
}

}  // namespace

const std::vector<Attribute>& attributes() {
  static const std::vector<Attribute> all = [] {
    std::vector<Attribute> found;
    Event event;
    Answer answer;
    Detail detail;
    Rest rest;
    visit_all(event, answer, detail, rest, [&](const char* name, auto& field) {
      found.push_back({std::string{"nplus1::"} + name, type_of<std::remove_cvref_t<decltype(field)>>()});
    });
    return found;
  }();
  return all;
}

std::optional<std::size_t> attribute_named(const std::string& name) {
  static const std::map<std::string, std::size_t> places = [] {
    std::map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < attributes().size(); ++i) index.emplace(attributes()[i].name, i);
    return index;
  }();
  const auto found = places.find(name);
  return found == places.end() ? std::nullopt : std::optional{found->second};
}

Values values_of(const TimedEvent& event) {
  const Detail detail = event.detail == nullptr ? Detail{} : *event.detail;
  const Rest rest{picoseconds(event.exit), event.ordinal, static_cast<std::uint8_t>(event.detail != nullptr)};
  Values values;
  values.reserve(attributes().size());
  visit_all(event.event, event.answer, detail, rest,
            [&](const char*, const auto& field) { values.push_back(bits(field)); });
  return values;
}

void set_values(const Values& values, exchange::StoredEvent& event) {
  Detail detail;
  Rest rest;
  std::size_t at = 0;
  visit_all(event.event, event.answer, detail, rest, [&](const char*, auto& field) {
    field = static_cast<std::remove_cvref_t<decltype(field)>>(values[at++]);
  });
  event.exit = Time{Duration{rest.exit_ps}};
  event.ordinal = rest.ordinal;
  event.detail = rest.has_detail != 0 ? std::optional{detail} : std::nullopt;
}

exchange::StoredEvent predict(Time entry, Time exit, Time last_exit) {
  exchange::StoredEvent event;
  event.event.entry_ps = picoseconds(entry);
  event.event.compute_ps = picoseconds(entry) - picoseconds(last_exit);
  event.exit = exit;
  event.answer.kind = AnswerKind::kExit;
  event.answer.exit_ps = picoseconds(exit);
  return event;
}

void add_attributes(const Values& values, const Values& predicted, OTF2_AttributeList* list) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0 && values[i] == predicted[i]) continue;
    OTF2_AttributeValue value{};
    value.uint64 = values[i];  // little-endian: the low bytes are the narrower members
    OTF2_AttributeList_AddAttribute(list, static_cast<OTF2_AttributeRef>(i), attributes()[i].type, value);
  }
}

std::optional<std::uint64_t> integer(OTF2_Type type, OTF2_AttributeValue value) {
  switch (type) {
    case OTF2_TYPE_UINT8:
      return value.uint8;
    case OTF2_TYPE_UINT16:
      return value.uint16;
    case OTF2_TYPE_UINT32:
      return value.uint32;
    case OTF2_TYPE_UINT64:
      return value.uint64;
    case OTF2_TYPE_INT32:
      return bits(value.int32);
    case OTF2_TYPE_INT64:
      return bits(value.int64);
    default:
      return std::nullopt;
  }
}

}  // namespace nplus1::events::otf2

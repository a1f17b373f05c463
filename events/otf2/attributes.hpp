// The fields of our events as typed OTF2 attributes named "nplus1::FIELD": they stand on the Enter of a call
// (on the Leave where a call is only left) and say whatever OTF2's own records have no field for. A field is
// left out where it is what predict() makes of the record, so most events carry only a few. Pure functions.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "events/exchange/stored_event.hpp"

namespace nplus1::events::otf2 {

struct Attribute {
  std::string name;
  OTF2_Type type;
};

/// In a fixed order: the place in it is the attribute's reference in our archives.
[[nodiscard]] const std::vector<Attribute>& attributes();
[[nodiscard]] std::optional<std::size_t> attribute_named(const std::string& name);

/// The values of all attributes, by place; signed ones as their two's complement.
using Values = std::vector<std::uint64_t>;

/// Of an event with its answer, detail, exit and ordinal; not its lists.
[[nodiscard]] Values values_of(const TimedEvent& event);
/// The other way; a detail only where there is one.
void set_values(const Values& values, exchange::StoredEvent& event);

/// What an event is if no attribute says otherwise: entry and exit at the times of its records, and computing
/// since the thread's last exit.
[[nodiscard]] exchange::StoredEvent predict(Time entry, Time exit, Time last_exit);

/// Adds those values that differ from the prediction; the kind always, which marks an event as ours.
void add_attributes(const Values& values, const Values& predicted, OTF2_AttributeList* list);

/// The time as a number, of a field of ours.
[[nodiscard]] inline std::int64_t picoseconds(Time time) {
  return time.time_since_epoch().count();
}

/// The number in `value`, whatever its width; nullopt if `type` is no integer.
[[nodiscard]] std::optional<std::uint64_t> integer(OTF2_Type type, OTF2_AttributeValue value);

}  // namespace nplus1::events::otf2

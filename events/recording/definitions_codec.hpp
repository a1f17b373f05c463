// Definitions and properties as records of a definitions block (docs/formats/recording.md, "Definitions").
#pragma once

#include <optional>
#include <string>

#include "events/recording/columns.hpp"
#include "events/recording/header.hpp"
#include "events/sink.hpp"

namespace nplus1::events::recording {

void put_property(ByteVector& out, const std::string& name, const std::string& value);
void put_definition(ByteVector& out, const Communicator& communicator);
void put_definition(ByteVector& out, const CallPath& path);
void put_definition(ByteVector& out, const Region& region);
void put_definition(ByteVector& out, const Datatype& datatype);

/// The payload of a definitions block from its records.
[[nodiscard]] ByteVector pack_definitions(ByteSpan records, ColumnPacker& packer);

/// Plays a definitions block to `sink` and its properties into `properties`; either may be null. Returns what
/// is wrong with it, if anything; then the records before have been played.
[[nodiscard]] std::optional<std::string> play_definitions(ByteSpan payload, std::int32_t ranks,
                                                          ColumnUnpacker& unpacker, EventSink* sink,
                                                          Properties* properties);

}  // namespace nplus1::events::recording

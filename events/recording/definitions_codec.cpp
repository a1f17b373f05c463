#include "events/recording/definitions_codec.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "events/recording/format.hpp"

namespace nplus1::events::recording {
namespace {

enum class Record : std::uint8_t { kProperty = 1, kCommunicator, kCallPath, kRegion, kDatatype };

void put_record(ByteVector& out, Record type, const ByteVector& body) {
  put(out, type);
  put_varint(out, body.size());
  put_bytes(out, body);
}

void put_signed(ByteVector& out, std::int64_t value) {
  put_varint(out, zigzag(static_cast<std::uint64_t>(value)));
}

std::int64_t get_signed(ByteReader& in) {
  return static_cast<std::int64_t>(unzigzag(in.varint()));
}

template <class Id>
Id get_id(ByteReader& in) {
  return Id{static_cast<std::uint32_t>(in.varint())};
}

/// Nothing if its members cannot be.
std::optional<Communicator> get_communicator(ByteReader& in, std::int32_t ranks) {
  Communicator c;
  c.id = get_id<CommId>(in);
  c.first_group = in.varint();
  const std::uint64_t size = in.varint();
  if (size > static_cast<std::uint64_t>(ranks) || size > in.left() || c.first_group > size) return {};
  c.members.reserve(size);
  std::int64_t previous = -1;
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::int64_t step = get_signed(in);
    if (step < -ranks || step > ranks) return {};
    previous += step + 1;
    if (previous < 0 || previous >= ranks) return {};
    c.members.emplace_back(static_cast<std::int32_t>(previous));
  }
  return c;
}

/// Nothing if it is longer than can be: empty frames take hardly a byte in the file, but much memory.
std::optional<CallPath> get_call_path(ByteReader& in) {
  CallPath path;
  path.id = get_id<CallSiteId>(in);
  std::uint64_t left = in.varint();
  if (left > kMaxFrames) return {};
  for (; left > 0 && in.ok(); --left) {
    Frame& frame = path.frames.emplace_back();
    frame.module = in.string();
    frame.build_id = in.string();
    frame.offset = in.varint();
    frame.function = in.string();
    frame.file = in.string();
    frame.line = static_cast<std::uint32_t>(in.varint());
  }
  return path;
}

std::optional<Region> get_region(ByteReader& in) {
  Region region;
  region.id = get_id<RegionId>(in);
  region.name = in.string();
  return region;
}

std::optional<Datatype> get_datatype(ByteReader& in) {
  Datatype datatype;
  datatype.id = get_id<DatatypeId>(in);
  datatype.name = in.string();
  datatype.bytes = get_signed(in);
  return datatype;
}

class Player {
 public:
  Player(std::int32_t ranks, EventSink* sink, Properties* properties)
      : ranks_{ranks}, sink_{sink}, properties_{properties} {}

  /// False if the record is malformed. Types that are unknown are passed over.
  bool play(Record type, ByteReader in) {
    switch (type) {
      case Record::kProperty:
        return property(in);
      case Record::kCommunicator:
        return tell(get_communicator(in, ranks_), in, &EventSink::on_communicator);
      case Record::kCallPath:
        return tell(get_call_path(in), in, &EventSink::on_call_path);
      case Record::kRegion:
        return tell(get_region(in), in, &EventSink::on_region);
      case Record::kDatatype:
        return tell(get_datatype(in), in, &EventSink::on_datatype);
    }
    return true;
  }

 private:
  bool property(ByteReader& in) {
    std::string name = in.string();
    std::string value = in.string();
    if (in.ok() && properties_ != nullptr) properties_->insert_or_assign(std::move(name), std::move(value));
    return in.ok();
  }

  template <class Definition>
  bool tell(const std::optional<Definition>& definition, const ByteReader& in,
            void (EventSink::*told)(const Definition&)) {
    if (!definition || !in.ok()) return false;
    if (sink_ != nullptr) (sink_->*told)(*definition);
    return true;
  }

  std::int32_t ranks_;
  EventSink* sink_;
  Properties* properties_;
};

/// The records of a payload, in `storage` if they were compressed; nothing if they do not unpack.
std::optional<ByteSpan> unpack(ByteSpan payload, std::int32_t ranks, ColumnUnpacker& unpacker,
                               ByteVector& storage) {
  ByteReader in{payload};
  const auto packing = in.get<std::uint8_t>();
  const auto raw_bytes = in.get<std::uint32_t>();
  if (!in.ok() || packing > 1 || raw_bytes > max_definition_bytes(ranks)) return {};
  const ByteSpan rest = in.take(in.left());
  if (packing == 0) {
    if (rest.size() != raw_bytes) return {};
    return rest;
  }
  storage.resize(raw_bytes);
  if (!unpacker.decompress(rest, storage)) return {};
  return ByteSpan{storage};
}

}  // namespace

void put_property(ByteVector& out, const std::string& name, const std::string& value) {
  ByteVector body;
  put_string(body, name);
  put_string(body, value);
  put_record(out, Record::kProperty, body);
}

void put_definition(ByteVector& out, const Communicator& communicator) {
  ByteVector body;
  put_varint(body, communicator.id.value);
  put_varint(body, communicator.first_group);
  put_varint(body, communicator.members.size());
  std::int64_t previous = -1;
  for (const RankId member : communicator.members) {
    put_signed(body, member.value - previous - 1);
    previous = member.value;
  }
  put_record(out, Record::kCommunicator, body);
}

void put_definition(ByteVector& out, const CallPath& path) {
  ByteVector body;
  put_varint(body, path.id.value);
  const std::size_t frames = std::min(path.frames.size(), kMaxFrames);
  put_varint(body, frames);
  for (const Frame& frame : std::span{path.frames}.first(frames)) {
    put_string(body, frame.module);
    put_string(body, frame.build_id);
    put_varint(body, frame.offset);
    put_string(body, frame.function);
    put_string(body, frame.file);
    put_varint(body, frame.line);
  }
  put_record(out, Record::kCallPath, body);
}

void put_definition(ByteVector& out, const Region& region) {
  ByteVector body;
  put_varint(body, region.id.value);
  put_string(body, region.name);
  put_record(out, Record::kRegion, body);
}

void put_definition(ByteVector& out, const Datatype& datatype) {
  ByteVector body;
  put_varint(body, datatype.id.value);
  put_string(body, datatype.name);
  put_signed(body, datatype.bytes);
  put_record(out, Record::kDatatype, body);
}

ByteVector pack_definitions(ByteSpan records, ColumnPacker& packer) {
  ByteVector out;
  put(out, std::uint8_t{1});
  put(out, static_cast<std::uint32_t>(records.size()));
  if (!packer.compress(records, out)) {
    out.front() = std::byte{0};
    put_bytes(out, records);
  }
  return out;
}

std::optional<std::string> play_definitions(ByteSpan payload, std::int32_t ranks, ColumnUnpacker& unpacker,
                                            EventSink* sink, Properties* properties) {
  ByteVector storage;
  const std::optional<ByteSpan> records = unpack(payload, ranks, unpacker, storage);
  if (!records) return "its definitions do not unpack";
  Player player{ranks, sink, properties};
  ByteReader in{*records};
  while (in.left() > 0) {
    const auto type = in.get<Record>();
    const ByteSpan body = in.take(in.varint());
    if (!in.ok() || !player.play(type, ByteReader{body}))
      return fmt::format("definition at byte {} of {} is malformed", records->size() - in.left(),
                         records->size());
  }
  return {};
}

}  // namespace nplus1::events::recording

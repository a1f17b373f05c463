#include "events/text/row.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>

#include "events/exchange/fields.hpp"
#include "events/mpi_call.hpp"

namespace nplus1::events::text {
namespace {

using nlohmann::json;
constexpr std::string_view kFormat = "nplus1-events/1";

/// Collects the names of the fields.
struct Lister {
  std::vector<Column>& columns;
  void add(std::string_view name, CellType type) { columns.push_back({name, type}); }
  void number(std::string_view name, auto) { add(name, CellType::kNumber); }
  void hex(std::string_view name, auto) { add(name, CellType::kWord); }
  void kind(std::string_view name, auto) { add(name, CellType::kWord); }
  void call(std::string_view name, auto) { add(name, CellType::kWord); }
  void operation(std::string_view name, auto, auto) { add(name, CellType::kWord); }
  void answer(std::string_view name, auto) { add(name, CellType::kWord); }
};

std::vector<Column> make_columns() {
  std::vector<Column> all{{"record", CellType::kWord}, {"rank", CellType::kNumber}};
  Lister lister{all};
  exchange::visit_event(static_cast<const Event&>(Event{}), lister);
  all.push_back({"exit_ps", CellType::kNumber});
  all.push_back({"ordinal", CellType::kNumber});
  for (const char* list : {"words", "sizes", "completed"}) all.push_back({list, CellType::kList});
  exchange::visit_answer(static_cast<const Answer&>(Answer{}), lister);
  all.push_back({"detail", CellType::kNumber});
  exchange::visit_detail(static_cast<const Detail&>(Detail{}), lister);
  for (const char* number : {"id", "bytes", "first_group", "ranks"})
    all.push_back({number, CellType::kNumber});
  all.push_back({"members", CellType::kList});
  for (const char* text : {"name", "text"}) all.push_back({text, CellType::kText});
  all.push_back({"frames", CellType::kFrames});
  return all;
}

/// Where the groups of columns begin.
struct Places {
  std::size_t record = 0, rank = 1, event = 2, exit, ordinal, words, sizes, completed, answer, detail, id,
              bytes, first_group, ranks, members, name, text, frames;
};

const Places& places() {
  static const Places found = [] {
    const auto at = [](std::string_view name) { return column_named(name).value(); };
    Places p{};
    p.record = at("record"), p.rank = at("rank"), p.event = at("kind"), p.exit = at("exit_ps");
    p.ordinal = at("ordinal"), p.words = at("words"), p.sizes = at("sizes"), p.completed = at("completed");
    p.answer = at("answer"), p.detail = at("detail"), p.id = at("id"), p.bytes = at("bytes");
    p.first_group = at("first_group"), p.ranks = at("ranks"), p.members = at("members"), p.name = at("name");
    p.text = at("text"), p.frames = at("frames");
    return p;
  }();
  return found;
}

void put(std::string& cell, auto value) {
  fmt::format_to(std::back_inserter(cell), "{}", value);
}

void put_word(std::string& cell, std::string_view word, auto number) {
  if (!word.empty()) {
    cell = word;
  } else if (number != 0) {
    put(cell, number);
  }
}

/// Writes the fields of one structure into the cells from `at` on.
struct Filler {
  Row& row;
  std::size_t at;
  std::string& next() { return row[at++]; }
  void number(std::string_view, auto value) {
    std::string& cell = next();
    if (value != 0) put(cell, +value);
  }
  void hex(std::string_view, std::uint64_t value) {
    std::string& cell = next();
    if (value != 0) cell = fmt::format("{:#x}", value);
  }
  void kind(std::string_view, EventKind kind) {
    put_word(next(), exchange::kind_name(kind), static_cast<int>(kind));
  }
  void call(std::string_view, std::uint16_t call) {
    std::string& cell = next();
    const bool known = call != 0 && call < kMpiCalls;
    put_word(cell, known ? events::name(static_cast<MpiCall>(call)) : std::string_view{}, call);
  }
  void operation(std::string_view, EventKind kind, std::uint8_t operation) {
    put_word(next(), exchange::operation_name(kind, operation), operation);
  }
  void answer(std::string_view, AnswerKind kind) {
    std::string& cell = next();
    if (kind != AnswerKind::kNone) put_word(cell, exchange::answer_name(kind), static_cast<int>(kind));
  }
};

template <class T>
bool parse_number(std::string_view cell, T& value, int base = 10) {
  const char* end = cell.data() + cell.size();
  const auto [stop, error] = std::from_chars(cell.data(), end, value, base);
  return error == std::errc{} && stop == end;
}

/// Reads the fields of one structure from the cells from `at` on; remembers the first that is wrong.
struct Taker {
  const Row& row;
  std::size_t at;
  std::optional<std::string>& trouble;

  const std::string& next() { return row[at++]; }
  void refuse() {
    if (!trouble) trouble = fmt::format("{} is \"{}\"", columns()[at - 1].name, row[at - 1].substr(0, 60));
  }
  template <class T>
  void number(std::string_view, T& value) {
    const std::string& cell = next();
    value = 0;
    if (!cell.empty() && !parse_number(cell, value)) refuse();
  }
  void hex(std::string_view name, std::uint64_t& value) {
    if (row[at].rfind("0x", 0) != 0) return number(name, value);
    if (!parse_number(std::string_view{next()}.substr(2), value, 16)) refuse();
  }
  /// The number of a word, or the number written out.
  template <class T>
  void word(T& value, auto found) {
    if (!found) return number({}, value);
    value = static_cast<T>(*found);
    ++at;
  }
  template <class Enum>
  void enumerator(Enum& value, std::optional<Enum> found) {
    std::underlying_type_t<Enum> number{};
    word(number, found);
    value = static_cast<Enum>(number);
  }
  void kind(std::string_view, EventKind& kind) { enumerator(kind, exchange::kind_named(row[at])); }
  void call(std::string_view, std::uint16_t& call) { word(call, call_named(row[at])); }
  void operation(std::string_view, EventKind kind, std::uint8_t& operation) {
    word(operation, exchange::operation_named(kind, row[at]));
  }
  void answer(std::string_view, AnswerKind& kind) { enumerator(kind, exchange::answer_named(row[at])); }

  template <class T>
  void list(std::vector<T>& values) {
    std::string_view rest = next();
    while (!rest.empty()) {
      const std::size_t space = std::min(rest.find(' '), rest.size());
      if (!parse_number(rest.substr(0, space), values.emplace_back())) return refuse();
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
  }
};

void clear(Row& row, std::string_view record) {
  row.resize(columns().size());
  for (std::string& cell : row) cell.clear();
  row[places().record] = record;
}

void put_list(std::string& cell, const auto& values) {
  for (const auto value : values) {
    if (!cell.empty()) cell += ' ';
    put(cell, value);
  }
}

void put_detail(const Detail& detail, Row& row) {
  row[places().detail] = "1";
  exchange::visit_detail(detail, Filler{row, places().detail + 1});
}

json to_json(const Frame& frame) {
  json object = json::object();
  const auto text = [&](const char* key, const std::string& value) {
    if (!value.empty()) object[key] = value;
  };
  text("module", frame.module);
  text("build_id", frame.build_id);
  if (frame.offset != 0) object["offset"] = frame.offset;
  text("function", frame.function);
  text("file", frame.file);
  if (frame.line != 0) object["line"] = frame.line;
  return object;
}

/// 0 where it is not there. Throws what is no such number.
template <class T>
T number_in(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return 0;
  const bool fits =
      found->is_number_unsigned() && found->get<std::uint64_t>() <= std::numeric_limits<T>::max();
  if (!fits) throw std::out_of_range{key};
  return found->get<T>();
}

Frame to_frame(const json& object) {
  Frame frame;
  frame.module = object.value("module", "");
  frame.build_id = object.value("build_id", "");
  frame.offset = number_in<std::uint64_t>(object, "offset");
  frame.function = object.value("function", "");
  frame.file = object.value("file", "");
  frame.line = number_in<std::uint32_t>(object, "line");
  return frame;
}

using Trouble = std::optional<std::string>;

Trouble read_event(const Row& row, EventSink& sink) {
  const Places& p = places();
  exchange::StoredEvent stored;
  Trouble trouble;
  Taker{row, p.rank, trouble}.number({}, stored.rank.value);
  exchange::visit_event(stored.event, Taker{row, p.event, trouble});
  exchange::visit_answer(stored.answer, Taker{row, p.answer, trouble});
  Taker{row, p.ordinal, trouble}.number({}, stored.ordinal);
  Taker{row, p.words, trouble}.list(stored.words);
  Taker{row, p.sizes, trouble}.list(stored.sizes);
  Taker{row, p.completed, trouble}.list(stored.completed);
  std::int64_t exit = 0;
  Taker{row, p.exit, trouble}.number({}, exit);
  stored.exit = row[p.exit].empty() ? kUnfinished : Time{Duration{exit}};
  if (!row[p.detail].empty())
    exchange::visit_detail(stored.detail.emplace(), Taker{row, p.detail + 1, trouble});
  if (!trouble) sink.on_event(stored.view());
  return trouble;
}

Trouble read_match(const Row& row, EventSink& sink) {
  RankId receiver;
  Answer match;
  Trouble trouble;
  Taker{row, places().rank, trouble}.number({}, receiver.value);
  exchange::visit_answer(match, Taker{row, places().answer, trouble});
  if (!trouble) sink.on_match(receiver, match);
  return trouble;
}

Trouble read_communicator(const Row& row, EventSink& sink) {
  Communicator communicator;
  Trouble trouble;
  std::vector<std::int32_t> members;
  Taker{row, places().id, trouble}.number({}, communicator.id.value);
  Taker{row, places().first_group, trouble}.number({}, communicator.first_group);
  Taker{row, places().members, trouble}.list(members);
  for (const std::int32_t member : members) communicator.members.emplace_back(member);
  if (!trouble) sink.on_communicator(communicator);
  return trouble;
}

Trouble read_call_path(const Row& row, EventSink& sink) {
  CallPath path;
  Trouble trouble;
  Taker{row, places().id, trouble}.number({}, path.id.value);
  try {
    const json frames = json::parse(row[places().frames].empty() ? "[]" : row[places().frames]);
    for (const json& frame : frames) path.frames.push_back(to_frame(frame));
  } catch (const json::exception&) {
    trouble = "frames is not a JSON array of objects";
  } catch (const std::out_of_range& wrong) {
    trouble = fmt::format("\"{}\" of a frame is no such number", wrong.what());
  }
  if (!trouble) sink.on_call_path(path);
  return trouble;
}

Trouble read_region(const Row& row, EventSink& sink) {
  Region region;
  Trouble trouble;
  Taker{row, places().id, trouble}.number({}, region.id.value);
  region.name = row[places().name];
  if (!trouble) sink.on_region(region);
  return trouble;
}

Trouble read_datatype(const Row& row, EventSink& sink) {
  Datatype datatype;
  Trouble trouble;
  Taker{row, places().id, trouble}.number({}, datatype.id.value);
  Taker{row, places().bytes, trouble}.number({}, datatype.bytes);
  datatype.name = row[places().name];
  if (!trouble) sink.on_datatype(datatype);
  return trouble;
}

Trouble read_run(const Row& row, exchange::Preamble& preamble) {
  Trouble trouble;
  if (row[places().text] != kFormat)
    return fmt::format("text is \"{}\", and this version reads {}", row[places().text].substr(0, 60),
                       kFormat);
  Taker{row, places().ranks, trouble}.number({}, preamble.ranks);
  if (!trouble && (preamble.ranks < 1 || preamble.ranks > exchange::kMaxRanks))
    trouble = "no such number of ranks";
  return trouble;
}

}  // namespace

const std::vector<Column>& columns() {
  static const std::vector<Column> all = make_columns();
  return all;
}

std::optional<std::size_t> column_named(std::string_view name) {
  static const std::map<std::string_view, std::size_t> places = [] {
    std::map<std::string_view, std::size_t> index;
    for (std::size_t i = 0; i < columns().size(); ++i) index.emplace(columns()[i].name, i);
    return index;
  }();
  const auto found = places.find(name);
  return found == places.end() ? std::nullopt : std::optional{found->second};
}

void write_event(const TimedEvent& event, Row& row) {
  clear(row, "event");
  const Places& p = places();
  put(row[p.rank], event.rank.value);
  exchange::visit_event(event.event, Filler{row, p.event});
  if (event.exit != kUnfinished) put(row[p.exit], event.exit.time_since_epoch().count());
  put(row[p.ordinal], event.ordinal);
  put_list(row[p.words], event.extension.words);
  put_list(row[p.sizes], event.extension.sizes);
  put_list(row[p.completed], event.completed);
  exchange::visit_answer(event.answer, Filler{row, p.answer});
  if (event.detail != nullptr) put_detail(*event.detail, row);
}

void write_match(RankId receiver, const Answer& match, Row& row) {
  clear(row, "match");
  put(row[places().rank], receiver.value);
  exchange::visit_answer(match, Filler{row, places().answer});
}

void write_communicator(const Communicator& communicator, Row& row) {
  clear(row, "communicator");
  put(row[places().id], communicator.id.value);
  if (communicator.first_group != 0) put(row[places().first_group], communicator.first_group);
  std::string& members = row[places().members];
  for (const RankId member : communicator.members) {
    if (!members.empty()) members += ' ';
    put(members, member.value);
  }
}

void write_call_path(const CallPath& path, Row& row) {
  clear(row, "call_path");
  put(row[places().id], path.id.value);
  json frames = json::array();
  for (const Frame& frame : path.frames) frames.push_back(to_json(frame));
  row[places().frames] = frames.dump(-1, ' ', false, json::error_handler_t::replace);
}

void write_region(const Region& region, Row& row) {
  clear(row, "region");
  put(row[places().id], region.id.value);
  row[places().name] = region.name;
}

void write_datatype(const Datatype& datatype, Row& row) {
  clear(row, "datatype");
  put(row[places().id], datatype.id.value);
  put(row[places().bytes], datatype.bytes);
  row[places().name] = datatype.name;
}

void write_run(std::int32_t ranks, Row& row) {
  clear(row, "run");
  put(row[places().ranks], ranks);
  row[places().text] = kFormat;
}

void write_property(const std::string& key, const std::string& value, Row& row) {
  clear(row, "property");
  row[places().name] = key;
  row[places().text] = value;
}

bool is_preamble(const Row& row) {
  return row[places().record] == "run" || row[places().record] == "property";
}

std::optional<std::string> read_preamble(const Row& row, exchange::Preamble& preamble) {
  if (row[places().record] == "run") return read_run(row, preamble);
  preamble.properties[row[places().name]] = row[places().text];
  return std::nullopt;
}

std::optional<std::string> read_row(const Row& row, EventSink& sink) {
  const std::string& record = row[places().record];
  if (record == "event") return read_event(row, sink);
  if (record == "match") return read_match(row, sink);
  if (record == "communicator") return read_communicator(row, sink);
  if (record == "call_path") return read_call_path(row, sink);
  if (record == "region") return read_region(row, sink);
  if (record == "datatype") return read_datatype(row, sink);
  return fmt::format("record is \"{}\"", record.substr(0, 60));
}

}  // namespace nplus1::events::text

#include "events/recording/block_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "events/checked_sink.hpp"
#include "events/recording/format.hpp"

namespace nplus1::events::recording {
namespace {

/// The Coder that reads: takes an entry where the row's mask has the column's bit, without a branch.
struct FieldReader {
  std::array<const std::uint64_t*, kColumns>& next;
  std::uint64_t mask;

  template <class T>
  void code(Column column, T& value, std::uint64_t prediction) {
    const std::uint64_t is_news = mask >> (column - kFirstField) & 1U;
    const std::uint64_t* const at = next[column];
    value = static_cast<T>(prediction + (*at & (0 - is_news)));
    next[column] = at + is_news;
  }
  [[nodiscard]] bool chooses(Column column, bool /*wish*/) const { return (mask & field_bit(column)) != 0; }
  static constexpr bool kReads = true;
  [[nodiscard]] bool any(std::uint64_t columns) const { return (mask & columns) != 0; }
};

void set_call(std::uint64_t call, Event& event, Answer& answer) {
  event.kind = static_cast<EventKind>(call & 0xffU);
  event.flags = static_cast<std::uint8_t>(call >> 8U);
  event.operation = static_cast<std::uint8_t>(call >> 16U);
  event.reserved = static_cast<std::uint8_t>(call >> 24U);
  event.call = static_cast<std::uint16_t>(call >> 32U);
  answer.kind = static_cast<AnswerKind>(call >> 48U & 0xffU);
  answer.flag = static_cast<std::uint8_t>(call >> 56U);
}

void set_template(const Template& what, DecodedRow& row) {
  set_call(what.call, row.event, row.answer);
  row.event.comm = CommId{static_cast<std::uint32_t>(what.place)};
  row.event.site = CallSiteId{static_cast<std::uint32_t>(what.place >> 32U)};
  row.detail.datatype = DatatypeId{static_cast<std::uint32_t>(what.detail)};
  row.detail.content = static_cast<std::uint8_t>(what.detail >> 32U);
}

/// Sets what the absent parts of a row leave out.
void clear_absent(unsigned parts, DecodedRow& row) {
  if ((parts & kWithWall) == 0) row.detail.wall_before_ns = row.detail.wall_entry_ns = 0;
  if ((parts & kWithBuffer) == 0) row.detail.buffer = 0;
  const bool has_excerpt = row.detail.has_excerpt();
  if (row.excerpt_is_set && !has_excerpt) row.detail.excerpt = {};
  row.excerpt_is_set = has_excerpt;
  if ((parts & kWithWords) == 0) row.words = 0;
  if ((parts & kWithSizes) == 0) row.sizes = 0;
  if ((parts & kWithCompleted) == 0) row.completed = 0;
}

const std::uint64_t kNothing = 0;  // what the cursor of an absent column points to

}  // namespace

BlockDecoder::BlockDecoder(std::int32_t ranks) : ranks_{ranks} {
  for (std::size_t c = kLaneRank; c <= kShape; ++c) limits_[c] = kMaxRows;
  for (std::size_t c = kFirstField; c < kEndOfFields; ++c) limits_[c] = kMaxRows;
  for (std::size_t c = kWords; c <= kCompleted; ++c) limits_[c] = max_list_entries(ranks);
}

std::size_t BlockDecoder::entries(Column column) const {
  return columns_[column].empty() ? 0 : columns_[column].size() - 1;
}

template <class Sink>
std::optional<std::string> BlockDecoder::play(ByteSpan payload, std::uint32_t rows,
                                              const Selection& selection, Sink& sink) {
  if (Wrong wrong = unpacker_.unpack(payload, limits_, columns_)) return wrong;
  if (Wrong wrong = read_structure(rows)) return wrong;
  if (!any_selected(selection)) return {};
  start_rows();
  return play_rows(selection, sink);
}

std::optional<std::string> BlockDecoder::read_structure(std::uint32_t rows) {
  if (Wrong wrong = read_lanes(rows)) return wrong;
  if (Wrong wrong = read_shapes()) return wrong;
  if (Wrong wrong = read_order(rows)) return wrong;
  return check_counts();
}

std::optional<std::string> BlockDecoder::read_lanes(std::uint32_t rows) {
  if (entries(kLaneRank) != entries(kLaneThread) || entries(kRunLane) != entries(kRunLength) ||
      entries(kShape) != rows)
    return "the columns of its structure differ in length";
  for (const std::uint64_t rank : columns_[kLaneRank])
    if (rank >= as_bits(ranks_)) return fmt::format("it has rank {}, but the job has {}", rank, ranks_);
  for (const std::uint64_t thread : columns_[kLaneThread])
    if (thread > 0xffffU) return fmt::format("it has thread {}", thread);
  return {};
}

std::optional<std::string> BlockDecoder::read_shapes() {
  const std::size_t templates = entries(kTemplateCall);
  if (entries(kTemplatePlace) != templates || entries(kTemplateDetail) != templates ||
      entries(kShapeTemplate) != entries(kShapeMask))
    return "its columns of shapes differ in length";
  templates_.resize(templates);
  for (std::size_t i = 0; i < templates; ++i)
    templates_[i] = {columns_[kTemplateCall][i], columns_[kTemplatePlace][i], columns_[kTemplateDetail][i]};
  shapes_.resize(entries(kShapeMask));
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const std::uint64_t of = columns_[kShapeTemplate][i];
    if (of >= templates) return fmt::format("shape {} has template {} of {}", i, of, templates);
    shapes_[i] = {static_cast<std::uint32_t>(of), templates_[of].parts(), columns_[kShapeMask][i], 0};
  }
  return {};
}

std::optional<std::string> BlockDecoder::read_order(std::uint32_t rows) {
  runs_.clear();
  order_.clear();
  rows_.resize(rows);
  placed_ = 0;
  lanes_.clear();
  for (std::size_t run = 0; run < entries(kRunLane); ++run)
    if (Wrong wrong = place_run(run, rows)) return wrong;
  if (placed_ != rows || lanes_.size() != entries(kLaneRank))
    return fmt::format("its runs have {} rows of {} lanes, not {} of {}", placed_, lanes_.size(), rows,
                       entries(kLaneRank));
  return {};
}

std::optional<std::string> BlockDecoder::place_run(std::size_t run, std::uint32_t rows) {
  const std::uint64_t lane = runs_.predicted() + columns_[kRunLane][run];
  const std::uint64_t length = columns_[kRunLength][run];
  if (lane > lanes_.size() || lane >= entries(kLaneRank) || length >= rows - placed_)
    return fmt::format("run {} has lane {} and {} more rows", run, lane, length);
  const auto number = static_cast<std::uint32_t>(lane);
  if (number == lanes_.size()) {
    lanes_.emplace_back();
    order_.add_lane(placed_ == 0 ? kNobody : rows_[placed_ - 1].lane);
  }
  runs_.settle(number);
  return place_rows(number, length + 1);
}

/// The next rows, all of this lane: which shape each has.
std::optional<std::string> BlockDecoder::place_rows(std::uint32_t lane, std::uint64_t count) {
  const std::uint64_t* const entries = columns_[kShape].data();
  for (const std::size_t end = placed_ + count; placed_ < end; ++placed_) {
    const std::uint64_t entry = entries[placed_];
    const std::uint64_t shape = entry == 0 ? order_.predicted(lane) : entry - 1;
    if (shape >= shapes_.size()) return fmt::format("row {} has shape {}", placed_, shape);
    order_.settle(lane, static_cast<std::uint32_t>(shape));
    ++shapes_[shape].rows;
    rows_[placed_] = {lane, static_cast<std::uint32_t>(shape)};
  }
  return {};
}

/// Each column of fields has as many entries as there are rows with its bit: from here on cursors stay
/// inside.
std::optional<std::string> BlockDecoder::check_counts() const {
  for (Column column = kCompute; column < kEndOfFields; column = Column(column + 1)) {
    std::uint64_t expected = 0;
    for (const Shape& shape : shapes_)
      if ((shape.mask & field_bit(column)) != 0) expected += shape.rows;
    if (entries(column) != expected)
      return fmt::format("column {} has {} entries, its rows have {}", column, entries(column), expected);
  }
  return {};
}

bool BlockDecoder::any_selected(const Selection& selection) const {
  const auto& ranks = columns_[kLaneRank];
  return std::any_of(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(entries(kLaneRank)),
                     [&](std::uint64_t rank) {
                       return rank >= as_bits(selection.first_rank.value) &&
                              rank <= as_bits(selection.last_rank.value);
                     });
}

void BlockDecoder::start_rows() {
  for (std::size_t c = 0; c < kColumns; ++c) next_[c] = columns_[c].empty() ? &kNothing : columns_[c].data();
  same_.assign(templates_.size(), {});
}

template <class Sink>
std::optional<std::string> BlockDecoder::play_rows(const Selection& selection, Sink& sink) {
  std::uint32_t started = 0;  // lanes
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::uint32_t number = rows_[i].lane;
    if (number == started) {
      lanes_[number] = i == 0 ? LaneState{} : lanes_[rows_[i - 1].lane];
      ++started;
    }
    const Lane lane{lanes_[number], RankId{static_cast<std::int32_t>(columns_[kLaneRank][number])},
                    ThreadId{static_cast<std::uint16_t>(columns_[kLaneThread][number])}};
    const bool selected = lane.rank >= selection.first_rank && lane.rank <= selection.last_rank;
    const Shape& shape = shapes_[rows_[i].shape];
    const bool sound = (shape.parts & kIsMatch) != 0 ? play_match(lane, shape, selected, sink)
                                                     : play_event(lane, shape, selected, sink);
    if (!sound) return fmt::format("row {}: {}", i, wrong_);
  }
  return {};
}

bool BlockDecoder::refuse(std::string what) {
  wrong_ = std::move(what);
  return false;
}

/// The row of an event, into row_ and its lists.
bool BlockDecoder::read_event(const Lane& lane, const Shape& shape) {
  set_template(templates_[shape.of], row_);
  row_.event.thread = lane.thread;
  FieldReader reader{next_, shape.mask};
  code_event(reader, row_, shape.parts, lane.rank.value, lane.state, same_[shape.of]);
  clear_absent(shape.parts, row_);
  if (is_point_to_point(row_.event.kind) && !is_rank(row_.event.peer))
    return refuse(fmt::format("peer {}, but the job has {} ranks", row_.event.peer, ranks_));
  if (!read_lists(shape.parts, lane.state)) return refuse("its lists are longer than their columns");
  std::memcpy(row_.detail.reserved, &row_.detail_reserved, sizeof row_.detail.reserved);
  return true;
}

template <class Sink>
bool BlockDecoder::play_event(const Lane& lane, const Shape& shape, bool selected, Sink& sink) {
  if (!read_event(lane, shape)) return false;
  if (!selected) return true;
  ++events;
  sink.on_event({lane.rank,
                 row_.event,
                 {words_, sizes_},
                 Time{Duration{row_.exit}},
                 (shape.parts & kWithAnswer) != 0 ? row_.answer : kNoAnswer,
                 completed_,
                 (shape.parts & kWithDetail) != 0 ? &row_.detail : nullptr,
                 row_.ordinal});
  return true;
}

/// The row of a match, into row_.answer.
bool BlockDecoder::read_match(const Lane& lane, const Shape& shape) {
  Answer& match = row_.answer;
  set_template(templates_[shape.of], row_);
  match.thread = lane.thread;
  FieldReader reader{next_, shape.mask};
  code_match(reader, match, lane.rank.value, lane.state, same_[shape.of]);
  if (!is_rank(match.source))
    return refuse(fmt::format("a message from rank {} of {}", match.source, ranks_));
  return true;
}

template <class Sink>
bool BlockDecoder::play_match(const Lane& lane, const Shape& shape, bool selected, Sink& sink) {
  if (!read_match(lane, shape)) return false;
  if (!selected) return true;
  ++matches;
  sink.on_match(lane.rank, row_.answer);
  return true;
}

bool BlockDecoder::read_lists(unsigned parts, const LaneState& lane) {
  words_.clear();
  sizes_.clear();
  completed_.clear();
  if ((parts & (kWithWords | kWithSizes | kWithCompleted)) == 0) return true;
  return read_list(kWords, row_.words, first_word(row_.event.kind, lane, row_.words), 1, words_) &&
         read_list(kSizes, row_.sizes, 0, 0, sizes_) &&
         read_list(kCompleted, row_.completed, 0, 1, completed_);
}

template <class T>
bool BlockDecoder::read_list(Column column, std::size_t length, std::uint64_t first, std::uint64_t step,
                             std::vector<T>& out) {
  if (length == 0) return true;
  const std::uint64_t* const end = columns_[column].data() + entries(column);
  if (columns_[column].empty() || length > static_cast<std::size_t>(end - next_[column])) return false;
  out.resize(length);
  code_list(std::span{out}, first, step, [&](T& value, std::uint64_t prediction) {
    value = static_cast<T>(prediction + *next_[column]++);
  });
  return true;
}

template std::optional<std::string> BlockDecoder::play(ByteSpan, std::uint32_t, const Selection&, EventSink&);
template std::optional<std::string> BlockDecoder::play(ByteSpan, std::uint32_t, const Selection&,
                                                       CheckedSink&);

}  // namespace nplus1::events::recording

// How each field of a row is predicted from what came before, so that only surprises take space: the tables
// of docs/formats/recording.md, "Columns of fields", as code. Written once, as a template over a Coder that
// writes (BlockEncoder) or reads (BlockDecoder), so that both cannot differ.
//
// A Coder has
//   code(column, value, prediction)   an entry if value differs from prediction; a reader sets value
//   chooses(column, wish)             whether the entry is in this column: the writer's wish, a reader's mask
//   kReads, and if so any(columns)    false if none of these columns has an entry in this row: then all are as predicted
// A Row has the members of DecodedRow, const or not.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "events/event.hpp"
#include "events/recording/columns.hpp"
#include "events/sink.hpp"

namespace nplus1::events::recording {

/// Parts of a row, as its template says.
enum Part : std::uint8_t {
  kIsMatch = 1,
  kWithDetail = 2,
  kWithBuffer = 4,
  kWithWall = 8,
  kWithAnswer = 16,
  kWithWords = 32,
  kWithSizes = 64,
  kWithCompleted = 128,
};

/// What all rows of one kind of call have in common; the three template columns.
struct Template {
  std::uint64_t call = 0;    // kind, flags, operation, reserved, MPI call, answer's kind and flag
  std::uint64_t place = 0;   // communicator, call path
  std::uint64_t detail = 0;  // datatype, content, parts
  friend bool operator==(const Template&, const Template&) = default;

  [[nodiscard]] std::uint8_t parts() const { return static_cast<std::uint8_t>(detail >> 40U); }
};

/// Values of the last row with the same template.
struct Same {
  std::uint64_t compute = 0;
  std::uint64_t peer = 0;
  std::uint64_t tag = 0;
  std::uint64_t size = 0;
  std::uint64_t aux = 0;
  std::uint64_t extension = 0;
  std::uint64_t stay = 0;  // exit - start
  std::uint64_t answer_index = 0;
  std::uint64_t answer_tag = 0;
  std::uint64_t answer_size = 0;
  std::uint64_t count = 0;
  std::uint64_t words = 0;
  std::uint64_t sizes = 0;
  std::uint64_t completed = 0;
  std::array<std::uint64_t, 8> excerpt{};
};

/// Values of the last rows of one thread of one rank.
struct LaneState {
  std::int64_t clock = 0;    // exit of the last event
  std::int64_t arrival = 0;  // latest exit_ps of a match
  std::int64_t wall = 0;     // wall_entry_ns of the last event
  std::uint64_t ordinal = 0;
  std::uint64_t buffer = 0;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint32_t request = 0;  // created last
  std::uint32_t matched = 0;  // request of the last match
};

struct DecodedRow {
  Event event;
  Answer answer;
  Detail detail;
  std::uint64_t detail_reserved = 0;  // Detail::reserved as one number
  bool excerpt_is_set = false;        // not all zeros, perhaps
  std::int64_t exit = 0;
  std::uint64_t ordinal = 0;
  std::uint32_t words = 0;  // lengths of the lists
  std::uint32_t sizes = 0;
  std::uint32_t completed = 0;
};

template <class T>
[[nodiscard]] constexpr std::uint64_t as_bits(T value) {
  return static_cast<std::uint64_t>(value);  // sign-extends what is signed
}

[[nodiscard]] constexpr bool is_send(EventKind kind) {
  return kind == EventKind::kSend || kind == EventKind::kIsend;
}
/// Its answer names the message.
[[nodiscard]] constexpr bool finds_message(EventKind kind) {
  return kind == EventKind::kRecv || kind == EventKind::kProbe || kind == EventKind::kIprobe;
}
[[nodiscard]] constexpr bool is_point_to_point(EventKind kind) {
  return is_send(kind) || finds_message(kind) || kind == EventKind::kIrecv;
}
[[nodiscard]] constexpr bool creates_request(EventKind kind) {
  return kind == EventKind::kIsend || kind == EventKind::kIrecv || kind == EventKind::kIcollective;
}
[[nodiscard]] constexpr bool lists_requests(EventKind kind) {
  return kind == EventKind::kWait || kind == EventKind::kTest;
}

/// The Coder of values that are all as predicted.
struct AsPredicted {
  template <class T>
  static void code(Column /*column*/, T& value, std::uint64_t prediction) {
    value = static_cast<T>(prediction);
  }
  static bool chooses(Column /*column*/, bool /*wish*/) { return false; }
};

/// `code(coder)` deals with these columns. Of most rows most groups of columns have nothing: a reader then need not look
/// at each.
template <class Coder, class Code>
void code_group(Coder& coder, std::uint64_t columns, const Code& code) {
  if constexpr (Coder::kReads) {
    if (!coder.any(columns)) {
      AsPredicted quiet;
      return code(quiet);
    }
  }
  code(coder);
}

[[nodiscard]] constexpr std::uint64_t field_bits(Column first, Column last) {
  return (field_bit(last) << 1U) - field_bit(first);
}

template <class Coder, class T>
void code_same(Coder& coder, Column column, T& value, std::uint64_t& same) {
  coder.code(column, value, same);
  same = as_bits(value);
}

template <class Coder, class E>
void code_peer(Coder& coder, E& event, std::int32_t rank, Same& same) {
  const bool neighbour = is_point_to_point(event.kind) && event.peer >= 0 && event.peer != rank;
  if (coder.chooses(kPeerOffset, neighbour)) {
    coder.code(kPeerOffset, event.peer, as_bits(rank));
  } else {
    code_same(coder, kPeer, event.peer, same.peer);
  }
}

template <class Coder, class E>
void code_arguments(Coder& coder, E& event, LaneState& lane, Same& same) {
  const bool creates = creates_request(event.kind);
  coder.code(kRequest, event.request.value, creates ? lane.request + std::uint64_t{1} : 0);
  if (creates) lane.request = event.request.value;
  code_same(coder, kTag, event.tag, same.tag);
  code_same(coder, kSize, event.size, same.size);
  code_same(coder, kAux, event.aux, same.aux);
  code_same(coder, kExtension, event.extension, same.extension);
}

template <class Coder, class Row>
void code_call(Coder& coder, Row& row, std::int32_t rank, LaneState& lane, Same& same) {
  auto& event = row.event;
  code_same(coder, kCompute, event.compute_ps, same.compute);
  coder.code(kEntry, event.entry_ps, as_bits(lane.clock) + as_bits(event.compute_ps));
  code_peer(coder, event, rank, same);
  code_group(coder, field_bit(kRequest) | field_bits(kTag, kExtension),
             [&](auto& c) { code_arguments(c, event, lane, same); });
  const std::int64_t start =
      event.kind == EventKind::kWait ? std::max(event.entry_ps, lane.arrival) : event.entry_ps;
  coder.code(kExit, row.exit, as_bits(start) + same.stay);
  same.stay = as_bits(row.exit) - as_bits(start);
  if (row.exit != kUnfinished.time_since_epoch().count()) lane.clock = row.exit;
  coder.code(kOrdinal, row.ordinal, lane.ordinal);
  lane.ordinal = row.ordinal + 1;
}

template <class Coder, class Row>
void code_answer(Coder& coder, Row& row, LaneState& lane, Same& same) {
  const auto& event = row.event;
  auto& answer = row.answer;
  const bool finds = finds_message(event.kind);
  coder.code(kAnswerThread, answer.thread.value, event.thread.value);
  code_same(coder, kAnswerIndex, answer.index, same.answer_index);
  coder.code(kAnswerRequest, answer.request.value, 0);
  coder.code(kAnswerSource, answer.source, finds ? as_bits(event.peer) : 0);
  coder.code(kAnswerTag, answer.tag, finds ? as_bits(event.tag) : 0);
  coder.code(kAnswerExtension, answer.extension, 0);
  std::uint64_t none = 0;
  std::uint64_t& sequence = finds ? lane.received : is_send(event.kind) ? lane.sent : none;
  code_same(coder, kAnswerSequence, answer.sequence, sequence);
  coder.code(kAnswerExit, answer.exit_ps, as_bits(row.exit));
  code_same(coder, kAnswerSize, answer.size, same.answer_size);
  coder.code(kAnswerAux, answer.aux, 0);
  coder.code(kAnswerReserved, answer.reserved, 0);
}

/// A whole payload begins with its prefix.
template <class Coder, class D>
void code_excerpt(Coder& coder, D& detail, Same& same) {
  if ((detail.content & kHasPayload) != 0) same.excerpt[0] = detail.prefix;
  for (std::size_t i = 0; i < detail.excerpt.size(); ++i)
    code_same(coder, static_cast<Column>(kExcerpt + i), detail.excerpt[i], same.excerpt[i]);
}

template <class Coder, class Row>
void code_content(Coder& coder, Row& row) {
  auto& detail = row.detail;
  coder.code(kPrefix, detail.prefix, 0);
  coder.code(kPolynomial, detail.polynomial, 0);
  coder.code(kCrc, detail.crc, 0);
  coder.code(kDetailReserved, row.detail_reserved, 0);
}

template <class Coder, class Row>
void code_detail(Coder& coder, Row& row, unsigned parts, LaneState& lane, Same& same) {
  auto& detail = row.detail;
  if ((parts & kWithWall) != 0) {
    coder.code(kWallBefore, detail.wall_before_ns, as_bits(lane.wall));
    coder.code(kWallEntry, detail.wall_entry_ns,
               as_bits(detail.wall_before_ns) + as_bits(row.event.compute_ps / 1000));
    lane.wall = detail.wall_entry_ns;
  }
  if ((parts & kWithBuffer) != 0) code_same(coder, kBuffer, detail.buffer, lane.buffer);
  code_same(coder, kCount, detail.count, same.count);
  code_group(coder, field_bits(kPrefix, kDetailReserved), [&](auto& c) { code_content(c, row); });
  if (detail.has_excerpt())
    code_group(coder, field_bits(kExcerpt, kLastExcerpt), [&](auto& c) { code_excerpt(c, detail, same); });
}

/// An event: all but what its template, lane and lists hold.
template <class Coder, class Row>
void code_event(Coder& coder, Row& row, unsigned parts, std::int32_t rank, LaneState& lane, Same& same) {
  code_call(coder, row, rank, lane, same);
  if ((parts & kWithAnswer) != 0)
    code_group(coder, field_bits(kAnswerThread, kAnswerReserved),
               [&](auto& c) { code_answer(c, row, lane, same); });
  if ((parts & kWithDetail) != 0) code_detail(coder, row, parts, lane, same);
  if ((parts & kWithWords) != 0) code_same(coder, kWordCount, row.words, same.words);
  if ((parts & kWithSizes) != 0) code_same(coder, kSizeCount, row.sizes, same.sizes);
  if ((parts & kWithCompleted) != 0) code_same(coder, kCompletedCount, row.completed, same.completed);
}

/// A match of `rank`'s: its answer, but for kind, flag and thread.
template <class Coder, class A>
void code_match(Coder& coder, A& match, std::int32_t rank, LaneState& lane, Same& same) {
  code_same(coder, kAnswerIndex, match.index, same.answer_index);
  coder.code(kAnswerRequest, match.request.value, lane.matched + std::uint64_t{1});
  lane.matched = match.request.value;
  coder.code(kAnswerSource, match.source, as_bits(rank));
  code_same(coder, kAnswerTag, match.tag, same.answer_tag);
  coder.code(kAnswerExtension, match.extension, 0);
  code_same(coder, kAnswerSequence, match.sequence, lane.received);
  coder.code(kAnswerExit, match.exit_ps, as_bits(lane.clock));
  lane.arrival = std::max(lane.arrival, match.exit_ps);
  code_same(coder, kAnswerSize, match.size, same.answer_size);
  coder.code(kAnswerAux, match.aux, 0);
  coder.code(kAnswerReserved, match.reserved, 0);
}

/// Calls `code(value, prediction)` for each value of a list that grows by `step`, starting at `first`.
template <class T, class Code>
void code_list(std::span<T> values, std::uint64_t first, std::uint64_t step, const Code& code) {
  std::uint64_t prediction = first;
  for (T& value : values) {
    code(value, prediction);
    prediction = as_bits(value) + step;
  }
}

/// Prediction of the first of an event's list of words.
[[nodiscard]] inline std::uint64_t first_word(EventKind kind, const LaneState& lane, std::uint64_t words) {
  return lists_requests(kind) ? lane.request + std::uint64_t{1} - words : 0;
}

}  // namespace nplus1::events::recording

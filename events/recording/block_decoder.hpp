// Plays the rows of an events block to a sink. Everything that a row refers to is checked before the first
// row is played, except for values that only decoding shows (ranks of peers, lengths of lists). Keeps its
// memory from block to block. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "events/recording/columns.hpp"
#include "events/recording/reader.hpp"
#include "events/recording/row_model.hpp"
#include "events/recording/row_order.hpp"
#include "events/sink.hpp"

namespace nplus1::events::recording {

class BlockDecoder {
 public:
  explicit BlockDecoder(std::int32_t ranks);

  /// Plays the rows of the selected ranks and counts them in `events` and `matches`. `rows`: as the block's
  /// header says. Returns what is wrong with the block, if anything; then the rows before have been played.
  /// `Sink`: an EventSink, or CheckedSink, whose checks are then part of the loop over rows.
  template <class Sink>
  std::optional<std::string> play(ByteSpan payload, std::uint32_t rows, const Selection& selection,
                                  Sink& sink);

  std::uint64_t events = 0;   // played since construction
  std::uint64_t matches = 0;  // likewise

 private:
  using Wrong = std::optional<std::string>;
  struct Shape {
    std::uint32_t of = 0;  // template
    unsigned parts = 0;
    std::uint64_t mask = 0;
    std::uint64_t rows = 0;  // that have it
  };
  struct Row {
    std::uint32_t lane, shape;
  };
  /// Of the row being read.
  struct Lane {
    LaneState& state;
    RankId rank;
    ThreadId thread;
  };

  Wrong read_structure(std::uint32_t rows);
  Wrong read_lanes(std::uint32_t rows);
  Wrong read_shapes();
  Wrong read_order(std::uint32_t rows);
  Wrong place_run(std::size_t run, std::uint32_t rows);
  Wrong place_rows(std::uint32_t lane, std::uint64_t count);
  Wrong check_counts() const;
  [[nodiscard]] bool any_selected(const Selection& selection) const;

  void start_rows();
  template <class Sink>
  Wrong play_rows(const Selection& selection, Sink& sink);
  // Of rows: false if `wrong_` says what is wrong with it. Reading is no template, so that the one place of its use can
  // be inlined.
  bool read_event(const Lane& lane, const Shape& shape);
  bool read_match(const Lane& lane, const Shape& shape);
  template <class Sink>
  bool play_event(const Lane& lane, const Shape& shape, bool selected, Sink& sink);
  template <class Sink>
  bool play_match(const Lane& lane, const Shape& shape, bool selected, Sink& sink);
  [[gnu::cold]] bool refuse(std::string what);
  bool read_lists(unsigned parts, const LaneState& lane);
  template <class T>
  bool read_list(Column column, std::size_t length, std::uint64_t first, std::uint64_t step,
                 std::vector<T>& out);
  [[nodiscard]] bool is_rank(std::int32_t peer) const { return peer >= kIntercommRoot && peer < ranks_; }
  [[nodiscard]] std::size_t entries(Column column) const;

  std::int32_t ranks_;
  ColumnUnpacker unpacker_;
  std::array<std::uint64_t, kColumns> limits_{};
  std::array<ColumnUnpacker::Entries, kColumns> columns_;
  // Structure of the block.
  RunOrder runs_;
  ShapeOrder order_;
  std::vector<Template> templates_;
  std::vector<Shape> shapes_;
  std::vector<Row> rows_;
  std::size_t placed_ = 0;  // of the rows
  // State while rows are played.
  std::array<const std::uint64_t*, kColumns> next_{};
  std::vector<LaneState> lanes_;
  std::vector<Same> same_;
  DecodedRow row_;
  std::string wrong_;
  std::vector<std::uint32_t> words_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::uint32_t> completed_;
};

}  // namespace nplus1::events::recording

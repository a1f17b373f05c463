// A line of CSV or JSON lines as cells: both formats have the same columns (docs/formats/exchange.md), and an
// empty cell is a field that is 0 or does not apply. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/exchange/exchange.hpp"
#include "events/exchange/stored_event.hpp"

namespace nplus1::events::text {

enum class CellType : unsigned char {
  kNumber,  // an integer
  kWord,    // a name; an integer where there is no name
  kText,    // anything
  kList,    // integers with a space between
  kFrames,  // a JSON array of objects
};

struct Column {
  std::string_view name;
  CellType type;
};

/// In the order of the CSV file.
[[nodiscard]] const std::vector<Column>& columns();
/// The place of a column in that order.
[[nodiscard]] std::optional<std::size_t> column_named(std::string_view name);

using Row = std::vector<std::string>;  // as many cells as columns

/// Sets every cell.
void write_event(const TimedEvent& event, Row& row);
void write_match(RankId receiver, const Answer& match, Row& row);
void write_communicator(const Communicator& communicator, Row& row);
void write_call_path(const CallPath& path, Row& row);
void write_region(const Region& region, Row& row);
void write_datatype(const Datatype& datatype, Row& row);
void write_run(std::int32_t ranks, Row& row);
void write_property(const std::string& key, const std::string& value, Row& row);

/// A `run` or `property` row, which only come before all others: false if it is another one.
[[nodiscard]] bool is_preamble(const Row& row);
/// What such a row says goes to `preamble`; or tells what is wrong with it: the column and its cell.
[[nodiscard]] std::optional<std::string> read_preamble(const Row& row, exchange::Preamble& preamble);
/// Gives `sink` what any other row says; likewise.
[[nodiscard]] std::optional<std::string> read_row(const Row& row, EventSink& sink);

}  // namespace nplus1::events::text

// Reads a recording (docs/formats/recording.md) and plays it to an EventSink in recorded order, as often as
// wanted.
//
// One thread at a time may call a Reader. Memory: one block and the members of communicators, whatever the length of the
// recording and the number of ranks. Every length, count and id is checked before it is used, and what rows claim
// is held against what the file has (events/checked_sink.hpp) before the sink is told: a damaged or hostile file
// ends in an Error or in a Coverage that says where reading stopped, never in a crash or in wrong numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "events/recording/header.hpp"
#include "events/sink.hpp"
#include "support/result.hpp"

namespace nplus1::events::recording {

/// Which part of a recording to play.
struct Selection {
  bool events = true;  // and matches; false: definitions only, without reading the rest
  RankId first_rank{0};
  RankId last_rank{kMaxRanks - 1};  // inclusive
  /// Blocks of events are played until there are so many events and matches; 0: all. What is left out is no damage.
  std::uint64_t most_rows = 0;
  /// For tests of the format alone: rows and definitions are told as they are coded, whatever they claim.
  bool unchecked = false;
};

/// How much of the recording was read, and what is missing.
struct Coverage {
  std::uint64_t events = 0;   // played to the sink
  std::uint64_t matches = 0;  // played to the sink
  /// The recording was closed by its writer and read to its end, without damage.
  bool complete = false;
  /// Where and why reading stopped early, with file and offset; empty if it did not.
  std::string stopped;
  /// Events and matches known to be behind the damage (the headers of later blocks say), not played.
  std::uint64_t lost_rows = 0;
  /// Events and matches behind Selection::most_rows, not played.
  std::uint64_t left_out = 0;
  /// What the writer itself had to drop (size cap, full disk); known only if `closed`.
  Totals written;
  bool closed = false;  // the closing block is there
  /// Why the writer stopped recording early (e.g. disk full); empty if it did not.
  std::string writer_error;

  /// One line for reports: "complete", or what is missing and why.
  [[nodiscard]] std::string text() const;
};

class ReaderCore;

class Reader {
 public:
  /// `path`: the recording's file, its folder, or the result folder above it. Looks at the headers of all
  /// blocks once, and reads the properties. Fails if there is no recording, if it has a newer major version,
  /// or if its beginning is damaged.
  static Result<Reader> open(const std::filesystem::path& path);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  /// Ranks, and the properties with their last values.
  [[nodiscard]] const Header& header() const;
  [[nodiscard]] const Properties& properties() const { return header().properties; }
  [[nodiscard]] const std::filesystem::path& file() const;
  [[nodiscard]] std::uint64_t bytes() const;

  /// Plays the recording from its start. An error only if the file cannot be read at all any more; damage
  /// is a note in the Coverage, and everything before it has been played. With a restricted Selection,
  /// `complete` speaks for the part that was selected.
  Result<Coverage> read(EventSink& sink, const Selection& selection = {});

  /// Reads the recording now and keeps it, so that read() of all ranks plays from memory from then on. False, and then
  /// nothing is kept: it is damaged or not closed, or has more events and matches (some 300 bytes each).
  bool keep(std::uint64_t most_rows);

 private:
  explicit Reader(std::unique_ptr<ReaderCore> core);
  std::unique_ptr<ReaderCore> core_;
};

}  // namespace nplus1::events::recording

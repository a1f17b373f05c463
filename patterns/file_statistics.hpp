// Counts what ranks do with files, by file and by rank. Fed with all events by MessageStatistics, from one thread. Memory:
// per file name, per file that is open, per rank that has used one; nothing per call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/definitions.hpp"
#include "events/sink.hpp"
#include "patterns/file_use.hpp"
#include "patterns/size_counts.hpp"

namespace nplus1::patterns {

/// Whether the function is one of MPI-IO's, MPI_File_X, by its MpiCall.
[[nodiscard]] const std::vector<std::uint8_t>& file_calls();
[[nodiscard]] inline bool is_file_call(std::uint16_t call) {
  return file_calls()[call] != 0;
}
/// How long a request to the storage took longer than it would have alone.
[[nodiscard]] Duration behind_others(const events::TimedEvent& event, Duration time);
/// Whether the event is the first of its call: those that all members make, and those by the shared pointer, are two.
[[nodiscard]] bool begins_file_call(const events::Event& event);

class FileStatistics {
 public:
  explicit FileStatistics(std::size_t ranks) : rank_(ranks) {}

  void define(const events::Region& region) {
    names_[static_cast<std::uint32_t>(region.id.value)] = region.name;
  }
  /// A call of MPI's with its time and waiting.
  void count_call(const events::TimedEvent& event, Duration time, Duration waiting) {
    if (event.event.kind == events::EventKind::kFileAccess || is_file_call_[event.event.call] != 0)
      count_file_call(event, time, waiting);
  }
  /// A rank's last event.
  void count_end(const events::TimedEvent& event);

  /// Nothing where no rank has used a file by MPI, and nobody has counted others.
  [[nodiscard]] std::optional<IoUse> use() const;

 private:
  void count_file_call(const events::TimedEvent& event, Duration time, Duration waiting);
  FileCounts* of_file(const events::Event& event);

  const std::vector<std::uint8_t>& is_file_call_ = file_calls();
  std::unordered_map<std::uint32_t, std::string> names_;   // by region
  std::unordered_map<std::uint32_t, std::uint32_t> open_;  // the file's name, by communicator
  std::unordered_map<std::uint32_t, FileCounts> files_;    // by name
  std::vector<FileCounts> rank_;
  std::vector<SystemCounts> system_;
  SizeCounts read_sizes_;
  SizeCounts write_sizes_;
  bool any_ = false;
};

}  // namespace nplus1::patterns

// What a run did with files, as plain data: the "io" of patterns.json (docs/formats/patterns.md); a field has its key's
// name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "patterns/sizes.hpp"
#include "support/units.hpp"

namespace nplus1::patterns {

/// Calls of MPI-IO and what they moved.
struct FileCounts {
  std::uint64_t opens = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t collective = 0;  // of the reads and writes
  std::uint64_t scattered = 0;   // likewise: their bytes are not side by side in the file
  Duration time{};               // in MPI_File_X
  Duration waiting{};            // of it: for other members, and behind others at the storage
  friend bool operator==(const FileCounts&, const FileCounts&) = default;
};

/// What a process has asked of the kernel by read, write and their like, but for MPI-IO.
struct SystemCounts {
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  friend bool operator==(const SystemCounts&, const SystemCounts&) = default;
};

/// Calls `count` with the key and the field of each number of FileCounts, and `time` of each duration, in the order of the
/// keys in the document.
template <class Time, class Count>
void for_each_file_count(Time time, Count count) {
  count("opens", &FileCounts::opens);
  count("reads", &FileCounts::reads);
  count("writes", &FileCounts::writes);
  count("bytes_read", &FileCounts::bytes_read);
  count("bytes_written", &FileCounts::bytes_written);
  count("collective", &FileCounts::collective);
  count("scattered", &FileCounts::scattered);
  time("time_s", &FileCounts::time);
  time("waiting_s", &FileCounts::waiting);
}

/// Likewise of SystemCounts, which has numbers only.
template <class Count>
void for_each_system_count(Count count) {
  count("bytes_read", &SystemCounts::bytes_read);
  count("bytes_written", &SystemCounts::bytes_written);
  count("reads", &SystemCounts::reads);
  count("writes", &SystemCounts::writes);
}

struct FileUse {
  std::string name;  // as it was given to MPI_File_open
  FileCounts counts;
  friend bool operator==(const FileUse&, const FileUse&) = default;
};

struct IoUse {
  std::vector<FileUse> files;  // those with the most bytes first
  std::uint64_t files_left_out = 0;
  std::vector<FileCounts> rank;      // one for each rank
  std::vector<SystemCounts> system;  // likewise; empty where nobody has counted
  Sizes read_sizes;
  Sizes write_sizes;

  [[nodiscard]] FileCounts totals() const;
  [[nodiscard]] SystemCounts system_totals() const;
  friend bool operator==(const IoUse&, const IoUse&) = default;
};

}  // namespace nplus1::patterns

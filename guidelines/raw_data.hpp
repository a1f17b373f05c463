// Measured run-times as files: our CSV, which `nplus1 guidelines run` writes, and the lines of PGMPI and
// ReproMPI, so that what was measured elsewhere can be judged too (docs/formats/guidelines.md). The writer's
// text is pure; readers stream, one row at a time, on one thread. A bad line is an Error with file, line and
// remedy; a last line that was cut off by a kill is left out and counted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace nplus1::guidelines {

/// One repetition of one test. Times are the slowest rank's, in seconds.
struct Measurement {
  int mpirun = 0;
  std::string
      test;  // canonical_name(); docs/formats/guidelines.md has the names that are no catalogue entries
  int processes = 0;
  std::uint32_t repetition = 0;  // nrep_index, from 0
  std::uint64_t size = 0;        // as the catalogue counts it
  double seconds = 0;
  std::optional<double> without_copies;  // of a mock-up: less its local copies
  bool censored = false;                 // stopped by a time-out: it took more than `seconds`
};

/// The `#@key=value` lines, by key. Keys that mean something to the analysis are named below.
using Settings = std::map<std::string, std::string>;
inline constexpr const char* kPurpose = "purpose";         // "measure" (default) or "confirm"
inline constexpr const char* kClock = "clock";             // "virtual": simulated times, without noise
inline constexpr const char* kMpiLibrary = "mpi_library";  // MPI_Get_library_version
/// What the simulated runs left unproved: this and a name, a line for each.
inline constexpr const char* kSimulatedDoubt = "simulated_doubt_";
inline constexpr const char* kConfirmation = "confirm";
inline constexpr const char* kVirtualClock = "virtual";

/// The settings and the row of column names that begin a file. Line breaks in values become spaces.
[[nodiscard]] std::string csv_head(const Settings& settings);
/// One line. Times are written so that they are read back exactly; a censored one as ">0.5".
[[nodiscard]] std::string csv_row(const Measurement& measurement);

/// What a file was: for messages, and for rows of formats that don't say all of it.
struct RawFile {
  std::filesystem::path path;
  int mpirun = 0;     // of rows that name none (PGMPI writes a file for each mpirun)
  int processes = 0;  // of rows and files that name none; 0: refuse them
};

struct RawFileContents {
  Settings settings;  // as they stand at the end of the file
  std::uint64_t rows = 0;
  bool cut_off = false;  // the last line was incomplete
};

using OnMeasurement = std::function<void(const Measurement&, const Settings&)>;

/// Hands each row to `on_row`, with the settings that stand above it. Columns are known by their names, in
/// any order: ours, or PGMPI's `test nrep msize|count runtime_sec` between blanks.
[[nodiscard]] Result<RawFileContents> read_raw(const RawFile& file, const OnMeasurement& on_row);

/// The *.csv, *.dat and *.txt files of a folder that hold measurements, by name; or the file itself.
[[nodiscard]] Result<std::vector<std::filesystem::path>> raw_files(
    const std::filesystem::path& folder_or_file);

}  // namespace nplus1::guidelines

// From single repetitions to what is compared: one median for each mpirun, test and size. Pure but for
// read_data(); one thread. Bad files are an Error (guidelines/raw_data.hpp).
#pragma once

#include <compare>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "guidelines/catalogue.hpp"
#include "guidelines/raw_data.hpp"
#include "guidelines/statistics.hpp"

namespace nplus1::guidelines {

/// What was timed: a test at a size on so many processes.
struct Place {
  int processes = 0;
  std::string test;
  std::uint64_t size = 0;

  friend bool operator<(const Place& a, const Place& b) {
    return std::tie(a.processes, a.test, a.size) < std::tie(b.processes, b.test, b.size);
  }
};

/// Its medians, one for each mpirun, in seconds.
struct Sample {
  std::vector<int> mpiruns;  // ascending
  Values medians;
  Values without_copies;  // as many, or empty where the file has none
  std::uint64_t repetitions = 0;
  std::uint64_t censored = 0;
};
using Samples = std::map<Place, Sample>;

struct Data {
  Samples native;
  Samples confirmation;  // fresh measurements of what was found
  Samples simulated;     // virtual times
  Settings settings;     // of the last file of the kind that the results are about
  std::vector<std::string> notes;
};

/// Takes repetitions in any order. A censored one is never filtered out: an original counts as what it had
/// taken when it was stopped, a mock-up as infinitely slow, so that a time-out cannot make a violation. Times
/// below a picosecond count as one.
class SampleCollector {
 public:
  explicit SampleCollector(const Catalogue& catalogue, bool filter = true);
  void add(const Measurement& measurement, const Settings& settings);
  [[nodiscard]] Data take() const;

 private:
  struct Repetitions {
    Values seconds, without_copies;
    std::uint64_t censored = 0;
  };
  using ByRun = std::map<int, Repetitions>;
  using ByPlace = std::map<Place, ByRun>;

  [[nodiscard]] Samples reduced(const ByPlace& places) const;
  [[nodiscard]] const std::string& name_of(const std::string& test);

  bool filter_;
  std::map<std::string, std::string> names_;  // catalogue's name by spelling_key()
  std::map<std::string, std::string> known_;  // by the file's spelling
  ByPlace native_, confirmation_, simulated_;
};

/// All measurements of a folder, or of one file. `processes`: of files that don't say; 0: refuse them.
[[nodiscard]] Result<Data> read_data(const std::filesystem::path& folder_or_file, const Catalogue& catalogue,
                                     bool filter, int processes);

}  // namespace nplus1::guidelines

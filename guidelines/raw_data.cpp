#include "guidelines/raw_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>

#include "guidelines/catalogue.hpp"
#include "support/shell.hpp"

namespace nplus1::guidelines {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kSetting = "#@";
constexpr std::string_view kColumns = "mpirun,test,p,nrep_index,msize,runtime_sec,runtime_without_copies_sec";

enum Column {
  kMpirun,
  kTest,
  kProcesses,
  kRepetition,
  kSize,
  kCount,
  kSeconds,
  kWithoutCopies,
  kColumnKinds
};
using Places = std::array<std::size_t, kColumnKinds>;
constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

struct ColumnName {
  std::string_view name;
  Column column;
};
constexpr std::array kNames{ColumnName{"mpirun", kMpirun},
                            ColumnName{"nexp", kMpirun},
                            ColumnName{"test", kTest},
                            ColumnName{"p", kProcesses},
                            ColumnName{"nprocs", kProcesses},
                            ColumnName{"nrep_index", kRepetition},
                            ColumnName{"nrep", kRepetition},
                            ColumnName{"msize", kSize},
                            ColumnName{"count", kCount},
                            ColumnName{"runtime_sec", kSeconds},
                            ColumnName{"runtime_without_copies_sec", kWithoutCopies}};

/// Between commas if there are any, else between blanks.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  const bool commas = line.find(',') != line.npos;
  const std::string_view separators = commas ? "," : " \t";
  while (true) {
    if (!commas) line.remove_prefix(std::min(line.find_first_not_of(separators), line.size()));
    if (!commas && line.empty()) return fields;
    const std::size_t end = line.find_first_of(separators);
    fields.push_back(line.substr(0, end));
    if (end == line.npos) return fields;
    line.remove_prefix(end + 1);
  }
}

template <class Number>
bool parse(std::string_view text, Number& number) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && rest == text.data() + text.size();
}

bool parse_time(std::string_view text, double& time) {
  return parse(text, time) && std::isfinite(time) && time >= 0;
}

std::optional<Places> columns_of(const std::vector<std::string_view>& fields) {
  Places places;
  places.fill(kAbsent);
  for (std::size_t i = 0; i < fields.size(); ++i)
    for (const auto& [name, column] : kNames)
      if (fields[i] == name) places[column] = i;
  const bool sized = places[kSize] != kAbsent || places[kCount] != kAbsent;
  if (places[kTest] == kAbsent || places[kSeconds] == kAbsent || !sized) return std::nullopt;
  return places;
}

int number_setting(const Settings& settings, const char* key) {
  int number = 0;
  const auto found = settings.find(key);
  return found != settings.end() && parse(std::string_view{found->second}, number) ? number : 0;
}

/// Processes of a file whose rows don't tell: ReproMPI's nprocs, PGMPI's nodes and processes on each.
int processes_of(const Settings& settings) {
  const int processes = number_setting(settings, "nprocs");
  if (processes > 0) return processes;
  const std::int64_t all = std::int64_t{number_setting(settings, "nodes")} * number_setting(settings, "nnp");
  return all <= std::numeric_limits<int>::max() ? static_cast<int>(std::max<std::int64_t>(all, 0)) : 0;
}

/// Goes through a file line by line.
class Parser {
 public:
  Parser(const RawFile& file, const OnMeasurement& on_row) : file_{file}, on_row_{on_row} {}

  Result<RawFileContents> run() {
    std::ifstream in{file_.path, std::ios::binary};
    if (!in) return Error{"cannot read " + file_.path.string(), "check its name and permissions"};
    for (std::string line; std::getline(in, line);) {
      ++number_;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      std::string fault = take(line);
      if (fault.empty()) continue;
      contents_.cut_off = in.eof();  // no line break behind it
      if (!contents_.cut_off) return failure(fault, line);
    }
    if (!places_) return failure("there is no line of column names", "");
    return contents_;
  }

 private:
  /// What is wrong with the line, or nothing.
  std::string take(std::string_view line) {
    if (line.rfind(kSetting, 0) == 0) return take_setting(line.substr(kSetting.size()));
    if (line.empty() || line.front() == '#') return {};
    const auto fields = fields_of(line);
    if (const auto places = columns_of(fields)) {
      places_ = places;
      width_ = fields.size();
      return {};
    }
    if (!places_) return "it comes before the line of column names";
    if (fields.size() != width_) return fmt::format("it has {} fields and not {}", fields.size(), width_);
    return take_row(fields);
  }

  std::string take_setting(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals != text.npos)
      contents_.settings[std::string{text.substr(0, equals)}] = text.substr(equals + 1);
    return {};
  }

  std::string_view field(const std::vector<std::string_view>& fields, Column column) const {
    return (*places_)[column] == kAbsent ? std::string_view{} : fields[(*places_)[column]];
  }

  std::string take_row(const std::vector<std::string_view>& fields) {
    Measurement m;
    m.mpirun = file_.mpirun;
    m.test = canonical_name(field(fields, kTest));
    if (m.test.empty()) return "'test' is empty";
    const int known = processes_of(contents_.settings);
    m.processes = known > 0 ? known : file_.processes;
    std::string fault = take_numbers(fields, m);
    if (fault.empty()) fault = take_times(fields, m);
    if (!fault.empty()) return fault;
    ++contents_.rows;
    on_row_(m, contents_.settings);
    return {};
  }

  std::string take_numbers(const std::vector<std::string_view>& fields, Measurement& m) const {
    const auto optional = [&](Column column, auto& number) {
      return (*places_)[column] == kAbsent || parse(field(fields, column), number);
    };
    if (!optional(kMpirun, m.mpirun)) return "'mpirun' is no number";
    if (!optional(kProcesses, m.processes) || m.processes < 0) return "'p' is no number of processes";
    if (m.processes == 0) return "nothing says how many processes there were: put #@nprocs=16 above it";
    if (!optional(kRepetition, m.repetition)) return "'nrep_index' is no number";
    if (!optional(kSize, m.size) || !optional(kCount, m.size)) return "'msize' is no number of bytes";
    if ((*places_)[kSize] == kAbsent) {  // ReproMPI counts elements
      const int bytes = number_setting(contents_.settings, "datatype_size_bytes");
      const auto each = static_cast<std::uint64_t>(std::max(1, bytes));
      if (m.size > std::numeric_limits<std::uint64_t>::max() / each) return "'count' is too many elements";
      m.size *= each;
    }
    return {};
  }

  std::string take_times(const std::vector<std::string_view>& fields, Measurement& m) const {
    std::string_view time = field(fields, kSeconds);
    m.censored = !time.empty() && time.front() == '>';
    if (m.censored) time.remove_prefix(1);
    if (!parse_time(time, m.seconds)) return "'runtime_sec' is no time in seconds";
    const std::string_view without = field(fields, kWithoutCopies);
    if (without.empty()) return {};
    double seconds = 0;
    if (!parse_time(without, seconds)) return "'runtime_without_copies_sec' is no time in seconds";
    m.without_copies = seconds;
    return {};
  }

  Error failure(const std::string& fault, std::string_view line) const {
    return {fmt::format("{}, line {}: {}{}", file_.path.string(), number_, fault,
                        line.empty() ? std::string{} : fmt::format(": '{}'", line.substr(0, 80))),
            fmt::format("measurements have the columns {} (docs/formats/guidelines.md)", kColumns)};
  }

  const RawFile& file_;
  const OnMeasurement& on_row_;
  RawFileContents contents_;
  std::optional<Places> places_;
  std::size_t width_ = 0;
  std::size_t number_ = 0;
};

bool holds_measurements(const fs::path& path) {
  const std::string suffix = path.extension().string();
  if (suffix != ".csv" && suffix != ".dat" && suffix != ".txt") return false;
  std::ifstream in{path, std::ios::binary};
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    return columns_of(fields_of(line)).has_value();
  }
  return false;
}

}  // namespace

std::string csv_head(const Settings& settings) {
  std::string text;
  for (const auto& [key, value] : settings) {
    std::string line = fmt::format("{}{}={}", kSetting, key, value);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    text += line + '\n';
  }
  return text + std::string{kColumns} + '\n';
}

std::string csv_row(const Measurement& m) {
  return fmt::format("{},{},{},{},{},{}{},{}\n", m.mpirun, m.test, m.processes, m.repetition, m.size,
                     m.censored ? ">" : "", m.seconds,
                     m.without_copies ? fmt::format("{}", *m.without_copies) : std::string{});
}

Result<RawFileContents> read_raw(const RawFile& file, const OnMeasurement& on_row) {
  return Parser{file, on_row}.run();
}

Result<std::vector<fs::path>> raw_files(const fs::path& place) {
  std::error_code error;
  if (fs::is_regular_file(place, error)) return std::vector<fs::path>{place};
  std::vector<fs::path> files;
  for (fs::directory_iterator entry{place, error}, end; !error && entry != end; entry.increment(error))
    if (entry->is_regular_file(error) && holds_measurements(entry->path())) files.push_back(entry->path());
  if (error)
    return Error{"cannot read " + place.string() + ": " + error.message(), "name a folder of measurements"};
  if (files.empty())
    return Error{"there are no measurements in " + place.string(), "measure with `nplus1 guidelines run -o " +
                                                                       quote(place.string()) +
                                                                       "`, or name a folder with CSV files"};
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace nplus1::guidelines

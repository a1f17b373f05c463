// `nplus1 overlap measure`: what making chains of blocking messages non-blocking saves on the machine's own MPI.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>

#include "analyses/installation.hpp"
#include "analyses/output_folder.hpp"
#include "cli/failure.hpp"
#include "cli/overlap/overlap.hpp"
#include "cli/program.hpp"
#include "cli/run/job.hpp"
#include "cli/run/launcher.hpp"
#include "cli/run/program_check.hpp"
#include "cli/to_stderr.hpp"
#include "events/frame_text.hpp"
#include "events/source/source_lines.hpp"
#include "overlap/measured.hpp"
#include "report/files.hpp"
#include "support/processes/programs.hpp"
#include "support/processes/words.hpp"
#include "support/program_name.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::seconds kMeasurePatience{5};

constexpr const char* kMeasureExamples =
    "  nplus1 overlap measure -n 4 -- ./app           as written and non-blocking in turn, on this machine's "
    "MPI\n"
    "  nplus1 overlap measure -n 4 -o DIR -- ./app    into the folder of a run: nplus1 overlap DIR shows "
    "both\n"
    "  nplus1 overlap measure -n 64 --mpi-args \"-f hosts\" -- ./app\n";

struct MeasureWords {
  std::string ranks, output, mpi_args;
  bool quiet = false;
};

std::vector<std::string> measuring_line(const MeasureWords& words, const std::vector<Section>& sections,
                                        const fs::path& raw) {
  std::vector<std::string> line{
      or_fail(analyses::find_mpirun(), ExitCode::kUnavailable, kNothingStarted).string()};
  const auto set = [&line](const std::string& name, const std::string& value) {
    line.insert(line.end(), {"-genv", name, value});
  };
  const char* preloaded = std::getenv("LD_PRELOAD");
  const std::string before = preloaded == nullptr ? "" : preloaded;
  const std::string ours =
      or_fail(analyses::find_overlap_stubs(), ExitCode::kUnavailable, kNothingStarted).string();
  set("LD_PRELOAD", processes::preloaded_before_the_users(ours));
  set("NPLUS1_MEASURED", raw.string());
  set("NPLUS1_MEASURED_PRELOAD", before);
  for (std::string& word : or_fail(processes::split_words(words.mpi_args), ExitCode::kUsage, kNothingStarted))
    line.push_back(std::move(word));
  for (const Section& section : sections) {
    if (&section != &sections.front()) line.emplace_back(":");
    line.insert(line.end(), {"-np", std::to_string(section.ranks)});
    line.insert(line.end(), section.options.begin(), section.options.end());
    line.insert(line.end(), section.command.begin(), section.command.end());
  }
  return line;
}

/// Of a frame as the ranks tell it.
overlap::Place place_in(events::source::SourceLines& lines, const std::string& text) {
  overlap::Place place;
  const std::vector<events::Frame> told = events::frames_of(text);
  if (told.empty()) return place;
  if (!told.front().module.empty())
    place.address = fmt::format("{}+{:#x}", told.front().module, told.front().offset);
  const std::vector<events::Frame> found = lines.resolve(told.front());
  place.function = found.front().function;
  place.file = found.front().file;
  place.line = found.front().line;
  return place;
}

std::string read_whole(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

void show_measured(const MeasureWords& words, const std::string& application, const fs::path& raw,
                   const fs::path& result) {
  const std::string text = read_whole(raw);
  std::error_code error;
  fs::remove(raw, error);
  if (text.empty()) {
    to_stderr(
        "nplus1: nothing was measured: rank 0 has not come to MPI_Finalize, or cannot write to {}\n"
        "  so:   the application ran as if without nplus1\n"
        "  next: nplus1 doctor PROGRAM\n",
        result.parent_path().string());
    return;
  }
  events::source::SourceLines lines;
  overlap::Measurement measured =
      or_fail(overlap::read_measurement(text, [&](const std::string& f) { return place_in(lines, f); }),
              ExitCode::kSoftware, kNothingShown);
  measured.application = application;
  or_fail(report::write_file(result, overlap::measurement_json(measured)), ExitCode::kCantCreate,
          "the results are not written");
  if (words.quiet) return;
  to_stderr("\n{}", overlap::measurement_text(measured));
  const unsigned cores = std::thread::hardware_concurrency();
  if (words.mpi_args.empty() && measured.ranks > cores)
    to_stderr("  {} ranks share {} cores: times are mostly those of the scheduler\n", measured.ranks, cores);
}

int measure_overlap(const MeasureWords& words, const std::vector<std::string>& command) {
  if (words.ranks.empty() || command.empty())
    throw Failure{ExitCode::kUsage,
                  words.ranks.empty() ? "the number of ranks is missing" : "there is no program",
                  kNothingStarted, "nplus1 overlap measure -n 4 -- ./app"};
  const auto ranks = or_fail(parse_ranks(words.ranks), ExitCode::kUsage, kNothingStarted);
  const auto sections = or_fail(parse_sections(ranks, command), ExitCode::kUsage, kNothingStarted);
  if (check_programs(sections, !words.mpi_args.empty()) == MpiLibrary::kOpenMpi)
    throw Failure{
        ExitCode::kUnsuitable,
        "overlap measure is not there for programs linked with Open MPI: it defers messages inside MPICH",
        kNothingStarted, "build the program with mpicc.mpich, or ask nplus1 overlap of a recorded run"};
  static_cast<void>(measuring_line(words, sections, {}));  // before a folder is made
  const std::string application = program_name(sections.front().command);
  std::error_code error;
  std::optional<analyses::OutputFolder> made;
  if (words.output.empty())
    made = or_fail(analyses::OutputFolder::next(application, total_ranks(sections)), ExitCode::kCantCreate,
                   kNothingStarted);
  else if (!fs::is_directory(words.output, error))
    made = or_fail(analyses::OutputFolder::at(words.output), ExitCode::kCantCreate, kNothingStarted);
  const fs::path folder = made ? made->path() : fs::absolute(words.output);
  const fs::path raw = folder / ".overlap-measured.raw";
  const std::vector<std::string> line = measuring_line(words, sections, raw);
  if (!words.quiet) to_stderr("nplus1: {}\n", join_quoted(line));
  const Ended ended = run_job(line, raw, kMeasurePatience);
  show_measured(words, application, raw, folder / kOverlapMeasuredFile);
  if (made) made->remove_if_empty();
  return ended.exit_code;
}

}  // namespace

std::string measured_text_in(const std::string& source) {
  std::error_code error;
  const fs::path folder = fs::is_directory(source, error) ? fs::path{source} : fs::path{source}.parent_path();
  return read_whole(folder / kOverlapMeasuredFile);
}

void add_overlap_measure(CLI::App& parent, const Registration& registration) {
  CLI::App* verb = parent.add_subcommand(
      "measure", "Measure on the machine's own MPI what making blocking messages non-blocking saves");
  set_manual(*verb,
             {"nplus1 overlap measure -n N [-o DIR] [options] -- PROGRAM [ARGUMENTS]", kMeasureExamples});
  const auto words = std::make_shared<MeasureWords>();
  verb->add_option("-n,--ranks", words->ranks, "Ranks of the job, with ':' of its first program")
      ->type_name("N");
  verb->add_option("-o,--output", words->output,
                   "Folder for overlap-measured.json: a run's, or a new one [nplus1-APP-N-K]")
      ->type_name("DIR");
  verb->add_option("--mpi-args", words->mpi_args, "Options for mpirun, e.g. \"-f hosts -ppn 4\"")
      ->type_name("WORDS");
  verb->add_flag("-q,--quiet", words->quiet, "Nothing on stderr but errors");
  verb->callback([registration, words] {
    registration.chosen = [words, command = registration.after_dashes] {
      return measure_overlap(*words, command);
    };
  });
}

}  // namespace nplus1::cli

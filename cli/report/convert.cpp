// `nplus1 convert`: recordings to and from the formats of other tools.
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "analyses/exchange_formats.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/to_stderr.hpp"
#include "cli/verbs.hpp"
#include "events/definitions_collector.hpp"
#include "events/recording/reader.hpp"
#include "events/time_independent/time_independent.hpp"
#include "support/number_of.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kNothingConverted = "nothing was converted, and nothing is left behind";
constexpr const char* kConvertExamples =
    "  nplus1 convert nplus1-app-16-1 -o app.otf2          for Vampir, Scalasca, otf2-print\n"
    "  nplus1 convert nplus1-app-16-1 -o app.jsonl         a line per event, for jq and pandas\n"
    "  nplus1 convert nplus1-app-16-1 -o app.ti            for SimGrid: cd app.ti && smpirun ... -replay "
    "replay.txt\n"
    "  nplus1 convert nplus1-app-16-1 -o app.goal          for LogGOPSim\n"
    "  nplus1 convert eztrace_log/ -o app.n1r              another tool's OTF2 archive, as a recording\n";

struct ConvertOptions {
  std::string input;
  std::string output;
  std::string from;
  std::string to;
  bool quiet = false;
  analyses::ExchangeOptions exchange{events::time_independent::kFlopsPerSecond};
};

/// One line on a terminal, rewritten as events pass.
class Progress final : public events::EventSink {
 public:
  Progress(events::EventSink& sink, bool quiet) : sink_{sink}, shown_{!quiet && isatty(STDERR_FILENO) == 1} {}
  ~Progress() override {
    if (printed_) to_stderr("\r\033[K");
  }
  void on_event(const events::TimedEvent& event) override {
    sink_.on_event(event);
    if (shown_ && (++events_ & 0xffff) == 0) {
      to_stderr("\r{:.1f} million events", static_cast<double>(events_) * 1e-6);
      printed_ = true;
    }
  }
  void on_match(RankId receiver, const events::Answer& match) override { sink_.on_match(receiver, match); }
  void on_communicator(const events::Communicator& communicator) override {
    sink_.on_communicator(communicator);
  }
  void on_call_path(const events::CallPath& path) override { sink_.on_call_path(path); }
  void on_region(const events::Region& region) override { sink_.on_region(region); }
  void on_datatype(const events::Datatype& datatype) override { sink_.on_datatype(datatype); }

 private:
  events::EventSink& sink_;
  bool shown_;
  bool printed_ = false;
  std::uint64_t events_ = 0;
};

/// "recording|otf2|csv": all that are known.
std::string format_names(const char* separator) {
  std::string text;
  for (const analyses::Format& format : analyses::formats())
    text += (text.empty() ? "" : separator) + format.name;
  return text;
}

const analyses::Format& choose(const std::string& said, const analyses::Format* guessed,
                               const std::string& path, const char* option) {
  if (!said.empty()) return *analyses::format_named(said);  // CLI11 has checked it
  if (guessed != nullptr) return *guessed;
  throw Failure{ExitCode::kUsage, fmt::format("the format of {} cannot be told from its name", path),
                kNothingConverted, fmt::format("add {} {}", option, format_names("|"))};
}

/// Call paths first, as they are known at the end (source lines are found after the run): OTF2 wants definitions in
/// the order of their numbers, and events that have been written refer to numbers.
void tell_call_paths(const std::string& recording, events::EventSink& sink) {
  events::recording::Selection selection;
  selection.events = false;
  events::DefinitionsCollector definitions;
  auto reader = or_fail(events::recording::Reader::open(recording), ExitCode::kUnsuitable, kNothingConverted);
  static_cast<void>(or_fail(reader.read(definitions, selection), ExitCode::kUnsuitable, kNothingConverted));
  for (const auto& [id, path] : definitions.call_paths()) sink.on_call_path(path);
}

void tell(const char* what, const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) to_stderr("nplus1: {}: {}\n", what, sentence);
}

int convert(const ConvertOptions& options) {
  if (!fs::exists(options.input))
    throw Failure{ExitCode::kNoInput, fmt::format("there is no {}", options.input), kNothingConverted,
                  "name a recording, a result folder or a file of another format"};
  const analyses::Format& from =
      choose(options.from, analyses::guess_input(options.input), options.input, "--from");
  const analyses::Format& to =
      choose(options.to, analyses::guess_output(options.output), options.output, "--to");
  auto importer = or_fail(analyses::open_input(options.input, from, options.exchange), ExitCode::kUnsuitable,
                          kNothingConverted);
  auto exporter = or_fail(analyses::create_output(options.output, to, importer->preamble(), options.exchange),
                          ExitCode::kCantCreate, kNothingConverted);
  if (from.is_recording && to.paths_first) tell_call_paths(options.input, *exporter);
  const auto imported = [&] {
    Progress progress{*exporter, options.quiet};
    return or_fail(importer->read(progress), ExitCode::kUnsuitable, kNothingConverted);
  }();
  const auto exported = or_fail(exporter->close(), ExitCode::kCantCreate, kNothingConverted);
  tell(fmt::format("{} lacks", from.name).c_str(), imported.missing);
  tell(fmt::format("{} cannot hold", to.name).c_str(), exported.lost);
  if (!options.quiet)
    to_stderr("nplus1: {} of {}: {} -> {}\n", number_of(exported.events, "event"),
              number_of(importer->preamble().ranks, "rank"), options.input, options.output);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_convert(const Registration& registration) {
  CLI::App* verb =
      registration.app.add_subcommand("convert", "Convert recordings to and from OTF2, CSV and others");
  set_manual(*verb, {"nplus1 convert IN -o OUT [--from FORMAT] [--to FORMAT]", kConvertExamples});
  auto options = std::make_shared<ConvertOptions>();
  std::vector<std::string> names;
  for (const analyses::Format& format : analyses::formats()) names.push_back(format.name);
  const CLI::IsMember formats{names};
  verb->add_option("IN", options->input, "Recording, result folder, or a file or folder of another format")
      ->required();
  verb->add_option(
          "-o,--output", options->output,
          "What to write; .n1r, .otf2, .csv, .jsonl, .ti and .goal say in which format. Never overwrites")
      ->required();
  verb->add_option("--from", options->from, "Format of IN, where its name doesn't say")->check(formats);
  verb->add_option("--to", options->to, "Format of OUT, where its name doesn't say")->check(formats);
  verb->add_option("--flops", options->exchange.flops_per_second,
                   "ti: flops that a second of computing is worth; give SimGrid's hosts this speed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_flag("-q,--quiet", options->quiet, "No progress, no summary");
  verb->callback([registration, options] { registration.chosen = [options] { return convert(*options); }; });
}

}  // namespace nplus1::cli

// The search of `nplus1 collectives`: in this process, or by an MPI program of several.
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "cli/collectives.hpp"
#include "cli/exchange_formats.hpp"
#include "cli/failure.hpp"
#include "cli/installation.hpp"
#include "cli/scratch_folder.hpp"
#include "cli/subprocess.hpp"
#include "detector/paper_method.hpp"
#include "detector/transfers.hpp"
#include "events/recording/reader.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace {

namespace fs = std::filesystem;
using detector::Analysis;
using detector::Keep;

Analysis analysed(const CollectivesWords& words, Keep keep, detector::TransferCollector& collector) {
  const detector::Transfers transfers = collector.take();
  Analysis analysis;
  analysis.messages = transfers.all.size();
  analysis.unknown = transfers.unknown;
  analysis.unmatched = transfers.unmatched;
  analysis.findings = words.method == "paper" ? detector::find_as_in_paper(transfers, collector)
                                              : detector::find_collectives(transfers, collector, keep);
  return analysis;
}

/// Another format, as far as it goes: only our own exports have hashes of what was sent.
Analysis search_foreign(const CollectivesWords& words, Format format) {
  const std::string name = name_of(format);
  if (words.analysers > 1 || words.price || !words.html.empty())
    throw Failure{
        ExitCode::kUsage, fmt::format("{} is {}, not a recording of nplus1", words.replay.source, name),
        kNothingShown,
        fmt::format("convert it first: nplus1 convert {} -o FILE.n1r; or leave out --analysers, --price and "
                    "--html",
                    quote(words.replay.source))};
  constexpr double kFlopsPerSecond = 1e9;
  const auto importer = or_fail(open_input(words.replay.source, format, {kFlopsPerSecond}),
                                ExitCode::kUnsuitable, kNothingShown);
  detector::TransferCollector collector{importer->preamble().ranks};
  const auto imported = or_fail(importer->read(collector), ExitCode::kUnsuitable, kNothingShown);
  for (const std::string& sentence : imported.missing)
    fmt::print(stderr, "nplus1: {} lacks: {}\n", name, sentence);
  return analysed(words, Keep::kFirst, collector);
}

Analysis search_here(const CollectivesWords& words, Keep keep) {
  auto reader =
      or_fail(events::recording::Reader::open(words.replay.source), ExitCode::kNoInput, kNothingShown);
  detector::TransferCollector collector{reader.header().ranks, detector::expected_messages(reader.bytes())};
  const auto coverage = or_fail(reader.read(collector), ExitCode::kNoInput, kNothingShown);
  Analysis analysis = analysed(words, keep, collector);
  if (!coverage.complete) analysis.damage = coverage.text();
  return analysis;
}

Analysis search_together(const CollectivesWords& words, Keep keep) {
  constexpr std::chrono::hours kAnalysersPatience{24};
  const ScratchFolder scratch{kNothingShown};
  const fs::path answer = scratch.path() / "answer";
  const auto program = or_fail(find_analysers(), ExitCode::kUnavailable, kNothingShown);
  const Output output =
      capture({or_fail(find_mpirun(), ExitCode::kUnavailable, kNothingShown).string(), "-np",
               std::to_string(words.analysers), program.string(), words.replay.source, answer.string(),
               words.method, keep == Keep::kAll ? "all" : "first"},
              kAnalysersPatience, true);
  if (output.exit_code != 0)
    throw Failure{ExitCode::kNoInput,
                  fmt::format("the analysers ended with exit code {}: {}", output.exit_code, output.text),
                  kNothingShown, "try without --analysers: one process needs no MPI"};
  std::ifstream in{answer, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  return or_fail(detector::from_bytes(bytes), ExitCode::kSoftware, kNothingShown);
}

}  // namespace

Analysis search_recording(const CollectivesWords& words, Keep keep) {
  const auto format = guess_input(words.replay.source);
  if (format && *format != Format::kRecording) return search_foreign(words, *format);
  if (words.analysers == 1) return search_here(words, keep);
  // The plain message for what is no recording; the analysers would each say so.
  static_cast<void>(
      or_fail(events::recording::Reader::open(words.replay.source), ExitCode::kNoInput, kNothingShown));
  return search_together(words, keep);
}

}  // namespace nplus1::cli

// The search of `nplus1 collectives`: in this process, or by an MPI program of several.
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "analyses/collectives.hpp"
#include "analyses/exchange_formats.hpp"
#include "analyses/installation.hpp"
#include "analyses/scratch_folder.hpp"
#include "detector/paper_method.hpp"
#include "detector/transfers.hpp"
#include "events/recording/reader.hpp"
#include "support/processes/programs.hpp"
#include "support/shell.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

namespace fs = std::filesystem;
using detector::Keep;

detector::Analysis analysed(const CollectivesOptions& options, detector::TransferCollector& collector) {
  const detector::Transfers transfers = collector.take();
  detector::Analysis analysis;
  analysis.messages = transfers.all.size();
  analysis.unknown = transfers.unknown;
  analysis.unmatched = transfers.unmatched;
  analysis.findings = options.method == SearchMethod::kPaper
                          ? detector::find_as_in_paper(transfers, collector)
                          : detector::find_collectives(transfers, collector, options.keep);
  return analysis;
}

/// Another format, as far as it goes: only our own exports have hashes of what was sent.
CollectivesSearch search_foreign(const CollectivesOptions& options, const Format& format) {
  const std::string& name = format.name;
  if (options.analysers > 1 || options.of_recording)
    throw Stopped{
        {fmt::format("{} is {}, not a recording of nplus1", options.source, name),
         fmt::format("convert it first: nplus1 convert {} -o FILE.n1r; or leave out --analysers, --price and "
                     "--html",
                     quote(options.source)),
         Fault::kUsage}};
  constexpr double kFlopsPerSecond = 1e9;
  const auto importer = need(open_input(options.source, format, {kFlopsPerSecond}), Fault::kUnsuitable);
  detector::TransferCollector collector{importer->preamble().ranks};
  const auto imported = need(importer->read(collector), Fault::kUnsuitable);
  CollectivesSearch search;
  for (const std::string& sentence : imported.missing)
    search.lacks.push_back(fmt::format("{} lacks: {}", name, sentence));
  CollectivesOptions first = options;
  first.keep = Keep::kFirst;
  search.analysis = analysed(first, collector);
  return search;
}

detector::Analysis search_here(const CollectivesOptions& options) {
  auto reader = need(events::recording::Reader::open(options.source));
  detector::TransferCollector collector{reader.header().ranks, detector::expected_messages(reader.bytes())};
  events::recording::Selection selection;
  selection.most_rows = options.most_rows;
  const auto coverage = need(reader.read(collector, selection));
  detector::Analysis analysis = analysed(options, collector);
  if (!coverage.complete) analysis.damage = coverage.text();
  return analysis;
}

detector::Analysis search_together(const CollectivesOptions& options) {
  constexpr std::chrono::hours kAnalysersPatience{24};
  const ScratchFolder scratch;
  const fs::path answer = scratch.path() / "answer";
  const auto program = need(find_analysers(), Fault::kUnavailable);
  const processes::Output output =
      processes::capture({need(find_mpirun(), Fault::kUnavailable).string(), "-np",
                          std::to_string(options.analysers), program.string(), options.source,
                          answer.string(), options.method == SearchMethod::kPaper ? "paper" : "default",
                          options.keep == Keep::kAll ? "all" : "first"},
                         kAnalysersPatience, true);
  if (output.exit_code != 0)
    throw Stopped{{fmt::format("the analysers ended with exit code {}: {}", output.exit_code, output.text),
                   "try without --analysers: one process needs no MPI", Fault::kInput}};
  std::ifstream in{answer, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  return need(detector::from_bytes(bytes), Fault::kBug);
}

}  // namespace

Result<CollectivesSearch> find_collectives(const CollectivesOptions& options) {
  return attempt([&]() -> CollectivesSearch {
    const auto format = guess_input(options.source);
    if (format != nullptr && !format->is_recording) return search_foreign(options, *format);
    if (options.analysers == 1) return {search_here(options), {}};
    // The plain message for what is no recording; the analysers would each say so.
    static_cast<void>(need(events::recording::Reader::open(options.source)));
    return {search_together(options), {}};
  });
}

}  // namespace nplus1::analyses

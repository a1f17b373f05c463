// `nplus1 collectives`: hand-written collective operations in a recording, and what to call instead.
#include <fmt/core.h>

#include <memory>
#include <utility>

#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/verbs.hpp"
#include "detector/findings.hpp"
#include "detector/transfers.hpp"
#include "events/recording/reader.hpp"
#include "report/results.hpp"

namespace nplus1::cli {
namespace {

namespace recording = events::recording;

constexpr const char* kExamples =
    "  nplus1 run -n 16 --record full -- ./app\n"
    "  nplus1 collectives nplus1-app-16-1                         the list, the most certain first\n"
    "  nplus1 collectives nplus1-app-16-1 --json collectives.json  for other programs\n";

constexpr const char* kNothingShown = "nothing is shown";

struct CollectivesOptions {
  std::string source;
  std::string json;
};

template <class T>
T or_fail(Result<T> result) {
  if (!result) throw Failure{ExitCode::kNoInput, result.error().what, kNothingShown, result.error().remedy};
  return std::move(result).value();
}

int show(const CollectivesOptions& options) {
  auto reader = or_fail(recording::Reader::open(options.source));
  // Two events make a message; room that is not used is not touched either.
  constexpr std::uint64_t kFewestBytesOfMessage = 16;
  detector::TransferCollector collector{reader.header().ranks,
                                        static_cast<std::size_t>(reader.bytes() / kFewestBytesOfMessage)};
  const recording::Coverage coverage = or_fail(reader.read(collector));
  if (!coverage.complete) fmt::print(stderr, "recording: {}\n", coverage.text());
  const detector::Transfers transfers = collector.take();
  const auto findings = detector::find_collectives(transfers, collector);
  if (!options.json.empty()) {
    auto written = report::write_file(options.json, detector::collectives_json(findings));
    if (!written)
      throw Failure{ExitCode::kCantCreate, written.error().what, kNothingShown, written.error().remedy};
  }
  fmt::print("{}", detector::collectives_text(findings));
  if (const std::string note = detector::coverage_note(transfers); !note.empty())
    fmt::print(stderr, "{}\n", note);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_collectives(const Registration& registration) {
  auto options = std::make_shared<CollectivesOptions>();
  CLI::App* verb = registration.app.add_subcommand("collectives",
                                                   "Find hand-written collective operations in a recording");
  verb->add_option("source", options->source, "A recording, or the result folder it is in")
      ->type_name("DIR|RECORDING")
      ->required();
  verb->add_option("--json", options->json, "Also write the list to this file")->type_name("FILE");
  set_manual(*verb, {"nplus1 collectives DIR|RECORDING [options]", kExamples});
  verb->callback([registration, options] { registration.chosen = [options] { return show(*options); }; });
}

}  // namespace nplus1::cli

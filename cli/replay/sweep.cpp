// `nplus1 replay --sweep`: a replay for each combination of values; a table, and a plot.
#include <fmt/format.h>

#include <utility>

#include "analyses/patterns.hpp"
#include "analyses/trust.hpp"
#include "cli/failure.hpp"
#include "cli/progress.hpp"
#include "cli/replay/replay.hpp"
#include "hypothesis/replay/sweep.hpp"
#include "netmodel/quantity.hpp"
#include "patterns/patterns_json.hpp"
#include "report/exact_time.hpp"
#include "report/files.hpp"
#include "report/html/html_report.hpp"
#include "report/json_object.hpp"
#include "report/trust.hpp"

namespace nplus1::cli {
namespace {

using analyses::Sweep;
using hypothesis::Axis;
using hypothesis::Point;
using hypothesis::PointResult;
using netmodel::format_number;
using report::exact_seconds;

std::string csv(const Sweep& sweep) {
  std::string text;
  for (const Axis& axis : sweep.axes) text += axis.key + ",";
  text +=
      "virtual_time_s,compute_share,communication_share,unmodelled_share,finished,order_inversions,forced_"
      "decisions\n";
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const PointResult& r = sweep.results[i];
    for (const double value : sweep.points[i]) text += format_number(value) + ",";
    text += fmt::format("{},{:.6f},{:.6f},{:.6f},{},{},{}\n", exact_seconds(r.makespan), r.compute_share,
                        r.communication_share, r.unmodelled_share, r.finished ? 1 : 0,
                        r.trust.order_inversions, r.trust.forced_decisions);
  }
  return text;
}

std::string json(const ReplayWords& words, const Sweep& sweep) {
  const auto& run = sweep.run.run;
  report::JsonObject object;
  object.text("schema", "nplus1-sweep/1");
  object.text("recording", words.source);
  object.text("network", sweep.network);
  object.list("keys", sweep.axes, [](const Axis& a) { return report::JsonObject::quoted(a.key); });
  object.raw("run_trust", run ? report::trust_object(*run) : "null");
  std::size_t i = 0;
  object.list(
      "points", sweep.points,
      [&](const Point& point) {
        const PointResult& r = sweep.results[i++];
        const auto number = [](double value) { return nlohmann::json(value).dump(); };
        return fmt::format(
            "{{\"values\": {}, \"virtual_time_s\": {}, \"compute_share\": {}, \"communication_share\": {}, "
            "\"unmodelled_share\": {}, \"finished\": {}, \"trust\": {}}}",
            report::JsonObject::joined(point, number), exact_seconds(r.makespan), number(r.compute_share),
            number(r.communication_share), number(r.unmodelled_share), r.finished,
            report::trust_object(r.trust));
      },
      ",\n    ");
  return object.document();
}

std::string table(const Sweep& sweep) {
  std::string text;
  for (const Axis& axis : sweep.axes) text += fmt::format("{:>14} ", axis.key);
  text += fmt::format("{:>18} {:>10} {:>14}\n", "virtual time, s", "computing", "communicating");
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const PointResult& r = sweep.results[i];
    for (const double value : sweep.points[i]) text += fmt::format("{:>14.6g} ", value);
    text += fmt::format("{:>18} {:>8.1f} % {:>12.1f} %{}\n", exact_seconds(r.makespan), 100 * r.compute_share,
                        100 * r.communication_share, r.finished ? "" : "  not all ranks ended");
    for (const std::string& doubt : report::doubts(r.trust)) text += fmt::format("{:>14} {}\n", "", doubt);
  }
  return text;
}

void write_files(const ReplayWords& words, const Sweep& sweep) {
  const std::string document = json(words, sweep);
  if (!words.json.empty())
    or_fail(report::write_file(words.json, document), ExitCode::kCantCreate, kNothingReplayed);
  if (!words.csv.empty())
    or_fail(report::write_file(words.csv, csv(sweep)), ExitCode::kCantCreate, kNothingReplayed);
  if (words.html.empty()) return;
  report::html::Documents documents;
  const std::string patterns = patterns::patterns_json(
      or_fail(analyses::load_patterns(words.source), ExitCode::kNoInput, kNothingReplayed).patterns);
  documents.add("patterns", patterns);
  documents.add("sweep", document);
  or_fail(report::html::write_report(words.html, sweep.recorded.application, documents),
          ExitCode::kCantCreate, kNothingReplayed);
}

}  // namespace

int sweep(const ReplayWords& words) {
  const Sweep sweep =
      or_fail(analyses::sweep(settings_of(words), words.sweep, progress_of("replays", words.quiet)),
              ExitCode::kNoInput, kNothingReplayed);
  write_files(words, sweep);
  fmt::print("{}{}", table(sweep), analyses::run_trust_text(sweep.run));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace nplus1::cli

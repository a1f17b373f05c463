// `nplus1 replay --sweep`: a replay for each combination of values; a table, and a plot.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "cli/failure.hpp"
#include "cli/patterns_source.hpp"
#include "cli/replay.hpp"
#include "cli/trust.hpp"
#include "hypothesis/sweep.hpp"
#include "netmodel/quantity.hpp"
#include "patterns/patterns_json.hpp"
#include "report/exact_time.hpp"
#include "report/files.hpp"
#include "report/html/html_report.hpp"
#include "report/json_object.hpp"
#include "report/trust.hpp"

namespace nplus1::cli {
namespace {

using hypothesis::Axis;
using hypothesis::Point;
using hypothesis::PointResult;
using netmodel::format_number;
using report::exact_seconds;

struct Sweep {
  std::string network;  // the one whose keys are swept
  std::vector<Axis> axes;
  std::vector<Point> points;
  std::vector<PointResult> results;
};

/// One replay, in a process of its own: with a reader of its own, too.
Result<PointResult> replay_point(const ReplayWords& words, const hypothesis::RecordedSettings& recorded,
                                 const Sweep& sweep, const Point& point) {
  ReplayWords here = words;
  here.network = hypothesis::network_at(sweep.network, sweep.axes, point);
  here.compute_scale = hypothesis::compute_scale_at(sweep.axes, point, words.compute_scale);
  auto reader = events::recording::Reader::open(words.source);
  if (!reader) return reader.error();
  const auto prepared = prepare_replay(here, recorded, reader.value().header().ranks);
  const auto result = hypothesis::replay(reader.value(), prepared->options);
  if (!result) return result.error();
  return hypothesis::point_of(result.value());
}

void show_replays_done(std::size_t done, std::size_t all) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) fmt::print(stderr, "\rnplus1: {} of {} replays{}", done, all, done == all ? "\n" : "");
}

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
  const auto run = run_trust(words.source).run;
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

void write_files(const ReplayWords& words, const hypothesis::RecordedSettings& recorded, const Sweep& sweep) {
  const std::string document = json(words, sweep);
  if (!words.json.empty())
    or_fail(report::write_file(words.json, document), ExitCode::kCantCreate, kNothingReplayed);
  if (!words.csv.empty())
    or_fail(report::write_file(words.csv, csv(sweep)), ExitCode::kCantCreate, kNothingReplayed);
  if (words.html.empty()) return;
  report::html::Documents documents;
  const std::string patterns = patterns::patterns_json(load_patterns(words.source).patterns);
  documents.patterns = patterns;
  documents.sweep = document;
  or_fail(report::html::write_report(words.html, recorded.application, documents), ExitCode::kCantCreate,
          kNothingReplayed);
}

}  // namespace

int sweep(const ReplayWords& words, const hypothesis::RecordedSettings& recorded,
          events::recording::Reader& reader) {
  Sweep sweep;
  sweep.network = prepare_replay(words, recorded, reader.header().ranks)->network->describe();
  sweep.axes =
      or_fail(hypothesis::parse_sweep(words.sweep, sweep.network), ExitCode::kUsage, kNothingReplayed);
  sweep.points = hypothesis::points_of(sweep.axes);
  const auto all = sweep.points.size();
  const std::size_t jobs = words.jobs > 0 ? static_cast<std::size_t>(words.jobs)
                                          : std::max(1U, std::thread::hardware_concurrency());
  for (const Point& point : sweep.points)
    or_fail(netmodel::parse(hypothesis::network_at(sweep.network, sweep.axes, point)), ExitCode::kUsage,
            kNothingReplayed);
  sweep.results = or_fail(
      hypothesis::run_points(
          all, jobs, [&](std::size_t i) { return replay_point(words, recorded, sweep, sweep.points[i]); },
          [&](std::size_t done) {
            if (!words.quiet) show_replays_done(done, all);
          }),
      ExitCode::kNoInput, kNothingReplayed);
  write_files(words, recorded, sweep);
  fmt::print("{}{}", table(sweep), run_trust_text(run_trust(words.source)));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace nplus1::cli

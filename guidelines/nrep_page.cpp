#include "guidelines/nrep_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace nplus1::guidelines {
namespace {

constexpr double kWidth = 260, kHeight = 150, kLeft = 42, kRight = 12, kTop = 8, kBottom = 22;
constexpr double kHighest = 1, kLowest = 1e-4;  // of the metrics, on a logarithmic axis

constexpr const char* kHead =
    R"(<!doctype html><html lang="en"><meta charset="utf-8"><title>Repetitions</title>
<style>
body{font:14px/1.4 system-ui,sans-serif;max-width:1180px;margin:1.5em auto;padding:0 1em;color:#222}
figure{display:inline-block;margin:0 1em 1em 0}figcaption{font-size:12px}svg text{font-size:10px;fill:#555}
.axis{stroke:#bbb;stroke-width:1}.rse{stroke:#1f6fb4}.mean{stroke:#d9730d}.median{stroke:#2f8f4e}
polyline{fill:none;stroke-width:1.4}circle{fill:none;stroke-width:1.4}.limit{stroke-dasharray:4 3;stroke-width:1}.chosen{stroke:#222;stroke-width:1}
b.rse{color:#1f6fb4}b.mean{color:#d9730d}b.median{color:#2f8f4e}
</style>
<h1>How many repetitions are enough</h1>
<p>Three predictions for each test. A series grows until every chosen metric is below its threshold (dashed); the longest
of the three counts (vertical line). <b class="rse">relative standard error</b>, <b class="mean">variation of the mean</b>,
<b class="median">variation of the median</b>, each where it was chosen, upwards; repetitions across.</p>
)";

struct Metric {
  const char* style;
  std::optional<double> Metrics::*value;
  std::optional<double> Criteria::*threshold;
};
constexpr Metric kMetrics[] = {{"rse", &Metrics::rse, &Criteria::rse},
                               {"mean", &Metrics::cov_mean, &Criteria::cov_mean},
                               {"median", &Metrics::cov_median, &Criteria::cov_median}};

double x_of(double repetitions, double most) {
  return kLeft + (kWidth - kLeft - kRight) * repetitions / most;
}

double y_of(double metric) {
  const double share =
      std::log(kHighest / std::clamp(metric, kLowest, kHighest)) / std::log(kHighest / kLowest);
  return kTop + (kHeight - kTop - kBottom) * share;
}

std::string line(const char* style, double x1, double y1, double x2, double y2) {
  return fmt::format(R"(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", style, x1, y1,
                     x2, y2);
}

std::string axes(double most) {
  std::string text;
  for (const double tick : {1.0, 0.1, 0.01, 0.001, 0.0001}) {
    text += line("axis", kLeft, y_of(tick), kWidth - kRight, y_of(tick));
    text += fmt::format(R"(<text x="{}" y="{:.1f}" text-anchor="end">{:g}</text>)", kLeft - 4, y_of(tick) + 3,
                        tick);
  }
  for (const double tick : {10.0, 50.0, 100.0, most})
    text += fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{:g}</text>)", x_of(tick, most),
                        kHeight - 6, tick);
  return text;
}

/// One line for each prediction, and a dot for each look: some have only one.
std::string curves(const std::vector<Look>& looks, const Metric& metric, double most) {
  std::map<int, std::string> points;
  std::string text;
  for (const Look& look : looks) {
    const auto value = look.metrics.*metric.value;
    if (!value) continue;
    const double x = x_of(look.repetitions, most), y = y_of(*value);
    points[look.prediction] += fmt::format("{:.1f},{:.1f} ", x, y);
    text += fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="1.5"/>)", metric.style, x, y);
  }
  for (const auto& [prediction, path] : points)
    text += fmt::format(R"(<polyline class="{}" points="{}"/>)", metric.style, path);
  return text;
}

std::string figure(const std::string& name, const std::vector<Look>& looks, const Criteria& criteria) {
  const double most = criteria.most;
  int chosen = 0;
  for (const Look& look : looks) chosen = std::max(chosen, look.repetitions);
  std::string text =
      fmt::format(R"(<figure><svg width="{0}" height="{1}" viewBox="0 0 {0} {1}">)", kWidth, kHeight);
  text += axes(most);
  for (const Metric& metric : kMetrics) {
    if (const auto threshold = criteria.*metric.threshold)
      text += line(fmt::format("limit {}", metric.style).c_str(), kLeft, y_of(*threshold), kWidth - kRight,
                   y_of(*threshold)) +
              curves(looks, metric, most);
  }
  text += line("chosen", x_of(chosen, most), kTop, x_of(chosen, most), kHeight - kBottom);
  return text + fmt::format("</svg><figcaption>{}: {}{}</figcaption></figure>\n", name, chosen,
                            looks.back().enough ? "" : " (time was up)");
}

}  // namespace

std::string nrep_page(const std::vector<Look>& looks, const Criteria& criteria) {
  std::map<std::pair<std::string, std::uint64_t>, std::vector<Look>> tests;
  for (const Look& look : looks) tests[{look.test, look.size}].push_back(look);
  std::string text = kHead, last;
  for (const auto& [test, series] : tests) {
    if (test.first != last) text += fmt::format("<h2>{}</h2>\n", test.first);
    last = test.first;
    text += figure(fmt::format("{} B", test.second), series, criteria);
  }
  return text + "</html>\n";
}

}  // namespace nplus1::guidelines

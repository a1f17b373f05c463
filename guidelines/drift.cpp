#include "guidelines/drift.hpp"

#include <fmt/format.h>

#include <cmath>

#include "guidelines/order_statistics.hpp"
#include "guidelines/repetitions.hpp"

namespace nplus1::guidelines {
namespace {

constexpr double kLeastChange = 1.1, kMostP = 0.001;

bool is_change(const Change& change) {
  return change.p < kMostP && std::abs(std::log(change.ratio)) > std::log(kLeastChange);
}

}  // namespace

void DriftFinder::add(const Measurement& m) {
  if (!m.censored) series_[{m.test, m.size}][m.mpirun].push_back(m.seconds);
}

std::vector<Drift> DriftFinder::found() const {
  std::vector<Drift> drifts;
  for (const auto& [test, mpiruns] : series_) {
    Values after, ratios;
    for (const auto& [mpirun, times] : mpiruns) {
      const auto change = change_point(times);
      if (!change || !is_change(*change)) continue;
      after.push_back(change->after);
      ratios.push_back(change->ratio);
    }
    if (2 * after.size() <= mpiruns.size()) continue;
    drifts.push_back({test.first, test.second, static_cast<int>(median(after)), median(ratios), after.size(),
                      mpiruns.size()});
  }
  return drifts;
}

std::string drift_csv(const std::vector<Drift>& drifts) {
  std::string text = "test,msize,after,ratio,changed,mpiruns\n";
  for (const Drift& d : drifts)
    text += fmt::format("{},{},{},{:.4g},{},{}\n", d.test, d.size, d.after, d.ratio, d.changed, d.mpiruns);
  return text;
}

}  // namespace nplus1::guidelines

#include "hypothesis/clock/samples.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "hypothesis/clock/quantile.hpp"

namespace nplus1::hypothesis::clock {
namespace {

double share(const CoreSpeed& core) {
  return static_cast<double>(core.loads.count()) / static_cast<double>(core.cycles.count());
}

}  // namespace

Result<std::vector<Sample>> samples_of(const events::recording::Properties& properties) {
  std::vector<Sample> samples;
  const auto found = properties.find("warm-times");
  if (found == properties.end()) return samples;
  const char* at = found->second.data();
  const char* const end = at + found->second.size();
  const auto number = [&](auto& value, char behind) {
    const auto read = std::from_chars(at, end, value);
    if (read.ec != std::errc{} || read.ptr == end || *read.ptr != behind) return false;
    at = read.ptr + 1;
    return true;
  };
  while (at != end) {
    Sample sample;
    std::int64_t warm = 0;
    int rough = 0;
    std::int64_t speeds[4] = {};
    const auto all_speeds = [&] {
      return number(speeds[0], ' ') && number(speeds[1], ' ') && number(speeds[2], ' ') &&
             number(speeds[3], '\n');
    };
    // Earlier versions end the line behind `rough`.
    const bool read = number(sample.rank.value, ' ') && number(sample.ordinal, ' ') && number(warm, ' ') &&
                      (number(rough, '\n') || (number(rough, ' ') && all_speeds()));
    const auto negative = [](std::int64_t speed) { return speed < 0; };
    if (!read || sample.rank.value < 0 || warm < 0 || rough < 0 || rough > 1 ||
        std::any_of(std::begin(speeds), std::end(speeds), negative) || (warm == 0 && speeds[2] == 0))
      return Error{"what twins measured cannot be read from the recording", "record the program again"};
    sample.warm = Duration{warm};
    sample.rough = rough == 1;
    sample.twins_core = {Duration{speeds[0]}, Duration{speeds[1]}};
    sample.core = {Duration{speeds[2]}, Duration{speeds[3]}};
    samples.push_back(sample);
  }
  return samples;
}

Samples::Samples(const std::vector<Sample>& samples) {
  // Quantiles: the very least may be an error.
  constexpr double kFastest = 0.02, kOwn = 0.05;
  constexpr double kSlowest = 3;  // times as long: the core was taken away meanwhile, whatever its frequency
  std::vector<double> cycles, shares;
  for (const Sample& sample : samples)
    for (const CoreSpeed* core : {&sample.twins_core, &sample.core}) {
      if (core->cycles.count() == 0) continue;
      cycles.push_back(static_cast<double>(core->cycles.count()));
      shares.push_back(share(*core));
    }
  fastest_ = quantile(std::move(cycles), kFastest);
  own_share_ = quantile(std::move(shares), kOwn);
  for (Sample sample : samples) {
    if (sample.warm.count() != 0) ++measured_;
    for (CoreSpeed* core : {&sample.twins_core, &sample.core})
      if (static_cast<double>(core->cycles.count()) > kSlowest * fastest_) *core = {};
    sample.shared = is_shared(sample.twins_core);
    sample.rough = sample.rough || sample.shared;
    samples_.emplace(stretch_number(sample.rank, sample.ordinal), sample);
  }
}

double Samples::log_shared(const CoreSpeed& core) const {
  return core.cycles.count() == 0 ? 0 : std::max(std::log(share(core) / own_share_), 0.0);
}

bool Samples::is_shared(const CoreSpeed& core) const {
  constexpr double kMore = 1.04;
  return core.cycles.count() != 0 && share(core) > kMore * own_share_;
}

template <class Of>
double Samples::mean_of_readings(Of of) const {
  double sum = 0;
  std::size_t count = 0;
  for (const auto& [place, sample] : samples_)
    for (const CoreSpeed* core : {&sample.twins_core, &sample.core}) {
      if (core->cycles.count() == 0) continue;
      sum += of(*core);
      ++count;
    }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

double Samples::share_shared() const {
  return mean_of_readings([this](const CoreSpeed& core) { return is_shared(core) ? 1.0 : 0.0; });
}

double Samples::at_fastest(double time, const CoreSpeed& core) const {
  const auto cycles = static_cast<double>(core.cycles.count());
  return cycles == 0 ? time : time * std::min(1.0, fastest_ / cycles);
}

double Samples::slower_than_fastest() const {
  return mean_of_readings([this](const CoreSpeed& core) { return 1 / at_fastest(1, core) - 1; });
}

const Sample* Samples::of(RankId rank, std::uint64_t ordinal) const {
  const auto found = samples_.find(stretch_number(rank, ordinal));
  return found == samples_.end() ? nullptr : &found->second;
}

}  // namespace nplus1::hypothesis::clock

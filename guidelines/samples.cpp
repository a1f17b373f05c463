#include "guidelines/samples.hpp"
#include "support/number_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace nplus1::guidelines {
namespace {

constexpr double kPicosecond = 1e-12;

bool has(const Settings& settings, const char* key, const char* value) {
  const auto found = settings.find(key);
  return found != settings.end() && found->second == value;
}

bool is_original(const std::string& test) {
  return test.find("_with_") == test.npos && test.find("_split_") == test.npos;
}

double median_of(const Values& values, bool filter) {
  if (!filter) return median(values);
  Values finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite), [](double v) { return v < 1e300; });
  Values kept = tukey_filtered(finite);
  kept.insert(kept.end(), values.size() - finite.size(), std::numeric_limits<double>::infinity());
  return median(kept);
}

}  // namespace

SampleCollector::SampleCollector(const Catalogue& catalogue, bool filter) : filter_{filter} {
  for (const SizedTest& test : tests_of(catalogue)) names_[spelling_key(test.name)] = test.name;
}

const std::string& SampleCollector::name_of(const std::string& test) {
  const auto [known, fresh] = known_.try_emplace(test, test);
  if (fresh) {
    const auto named = names_.find(spelling_key(test));
    if (named != names_.end()) known->second = named->second;
  }
  return known->second;
}

void SampleCollector::add(const Measurement& m, const Settings& settings) {
  ByPlace& places = has(settings, kClock, kVirtualClock)     ? simulated_
                    : has(settings, kPurpose, kConfirmation) ? confirmation_
                                                             : native_;
  const std::string& test = name_of(m.test);
  Repetitions& repetitions = places[{m.processes, test, m.size}][m.mpirun];
  const bool endless = m.censored && !is_original(test);
  const double seconds = endless ? std::numeric_limits<double>::infinity() : std::max(m.seconds, kPicosecond);
  repetitions.seconds.push_back(seconds);
  repetitions.censored += m.censored ? 1 : 0;
  if (m.without_copies) repetitions.without_copies.push_back(std::max(*m.without_copies, kPicosecond));
}

Samples SampleCollector::reduced(const ByPlace& places) const {
  Samples samples;
  for (const auto& [place, runs] : places) {
    Sample& sample = samples[place];
    for (const auto& [run, repetitions] : runs) {
      sample.mpiruns.push_back(run);
      sample.medians.push_back(median_of(repetitions.seconds, filter_));
      sample.repetitions += repetitions.seconds.size();
      sample.censored += repetitions.censored;
      if (!repetitions.without_copies.empty())
        sample.without_copies.push_back(median_of(repetitions.without_copies, filter_));
    }
    if (sample.without_copies.size() != sample.medians.size()) sample.without_copies.clear();
  }
  return samples;
}

Data SampleCollector::take() const {
  Data data;
  data.native = reduced(native_);
  data.confirmation = reduced(confirmation_);
  data.simulated = reduced(simulated_);
  std::uint64_t censored = 0;
  for (const Samples* samples : {&data.native, &data.confirmation, &data.simulated})
    for (const auto& [place, sample] : *samples) censored += sample.censored;
  if (censored > 0)
    data.notes.push_back(fmt::format(
        "{} stopped by a time-out: an original counts as what it had taken by then, a mock-up as endless",
        number_of(censored, "repetition was", "repetitions were")));
  return data;
}

Result<Data> read_data(const std::filesystem::path& place, const Catalogue& catalogue, bool filter,
                       int processes) {
  const auto files = raw_files(place);
  if (!files) return files.error();
  SampleCollector collector{catalogue, filter};
  const auto add = [&](const Measurement& m, const Settings& s) { collector.add(m, s); };
  Settings settings;
  std::vector<std::string> notes;
  int number = 0;
  for (const std::filesystem::path& file : files.value()) {
    const auto contents = read_raw({file, number++, processes}, add);
    if (!contents) return contents.error();
    const bool measured = !has(contents.value().settings, kPurpose, kConfirmation) &&
                          !has(contents.value().settings, kClock, kVirtualClock);
    if (measured || settings.empty()) settings = contents.value().settings;
    for (const auto& [key, doubt] : contents.value().settings)
      if (key.starts_with(kSimulatedDoubt)) notes.push_back("simulated times rely on " + doubt);
    if (contents.value().cut_off)
      notes.push_back(file.filename().string() + " ends within a line, which is left out: it was cut off");
  }
  Data data = collector.take();
  data.settings = std::move(settings);
  data.notes.insert(data.notes.end(), notes.begin(), notes.end());
  return data;
}

}  // namespace nplus1::guidelines

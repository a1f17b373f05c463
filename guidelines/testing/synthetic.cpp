#include "guidelines/testing/synthetic.hpp"

#include <cmath>

namespace nplus1::guidelines {
namespace {

class Machine {
 public:
  Machine(const Experiment& experiment, std::uint64_t seed) : experiment_{experiment}, random_{seed} {}

  double factor(double sigma) { return std::exp(sigma * normal_(random_)); }

  double truth(const std::string& test, std::uint64_t size) const {
    const double seconds = 10e-6 + 1e-9 * static_cast<double>(size);
    const bool planted = test == experiment_.planted_in && size >= experiment_.planted_above;
    return planted ? seconds * experiment_.planted : seconds;
  }

  /// One mpirun's repetitions of a test.
  template <class Add>
  void run(double shift, Measurement m, Add add) {
    const Noise& noise = experiment_.noise;
    const double level = truth(m.test, m.size) * shift * factor(noise.mpirun_sigma);
    for (int i = 0; i < experiment_.repetitions; ++i) {
      m.repetition = static_cast<std::uint32_t>(i);
      m.seconds = level * factor(noise.repetition_sigma);
      if (uniform_(random_) < noise.spike_share) m.seconds *= noise.spike_factor;
      add(m);
    }
  }

 private:
  const Experiment& experiment_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

}  // namespace

Sample steady_sample(double seconds, int runs) {
  Sample sample;
  for (int run = 0; run < runs; ++run) {
    sample.mpiruns.push_back(run);
    sample.medians.push_back(seconds * (1 + 0.001 * run));
  }
  return sample;
}

Data measured(const Catalogue& catalogue, const Experiment& experiment, std::uint64_t seed) {
  SampleCollector collector{catalogue};
  Machine machine{experiment, seed};
  std::vector<SizedTest> tests = tests_of(catalogue);
  for (std::size_t i = 0, count = tests.size(); i < count; ++i)
    if (parts_of(tests[i].name).empty()) tests.push_back({again_name(tests[i].name), tests[i].sizes});
  for (int run = 0; run < experiment.runs; ++run) {
    const double shift = machine.factor(experiment.noise.shared_sigma);
    for (const SizedTest& test : tests)
      for (const std::uint64_t size : test.sizes)
        machine.run(shift, {run, test.name, experiment.processes, 0, size, 0, {}, false},
                    [&](const Measurement& m) { collector.add(m, {}); });
  }
  return collector.take();
}

}  // namespace nplus1::guidelines

// Any text as a file of hypotheses.
#include "hypothesis/transform/step.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {

void run(Input input) {
  static_cast<void>(hypothesis::transform::parse_hypothesis(as_text(input), "fuzz.toml"));
}

std::vector<std::string> seeds() {
  return {
      "network = \"lsb:latency=1e-6,bandwidth=1e9\"\ncollectives = \"bcast=binomial\"\neager = \"64KiB\"\n\n"
      "[[scale]]\nranks = \"0-3\"\nfactor = 0.5\n\n[[balance]]\nranks = \"all\"\n\n[[resize]]\nsites = [1, "
      "2]\n"
      "factor = 2\n[[delete]]\nsize = \"8..1KiB\"\n[[noise]]\namplitude = 0.1\n",
      "[[replace]]\nby = \"bcast\"\n[[nonblocking]]\nsites = \"all\"\n[[insert]]\nat = \"main\"\nseconds = "
      "1e-3\n"};
}

bool is_text() {
  return true;
}

}  // namespace nplus1::fuzz

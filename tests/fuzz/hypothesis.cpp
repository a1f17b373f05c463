// Any text as a file of hypotheses.
#include "hypothesis/transform/step.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {

bool run(Input input) {
  return hypothesis::transform::parse_hypothesis(as_text(input), "fuzz.toml").ok();
}

std::vector<std::string> seeds() {
  return {
      "network = \"lsb:latency=1e-6,bandwidth=1e9\"\ncollectives = \"bcast=binomial\"\neager = \"64KiB\"\n\n"
      "[[scale]]\nranks = \"0-3\"\nfactor = 0.5\n\n[[balance]]\nranks = \"0-3:8\"\n\n[[resize]]\nsite = "
      "\"#1:2\"\n"
      "factor = 2\n[[delete]]\nsize = \"8..1KiB\"\n[[noise]]\namount = 0.1\nseed = 3\ndistribution = "
      "\"uniform\"\n[[steady]]\n",
      "[[replace]]\nwith = \"bcast\"\nroot = 0\nfewest = 3\ncontents = \"same\"\nsite = \"halo.c:58\"\n"
      "[[nonblocking]]\npost = 0\nwait = 1\ndependent = \"yes\"\nsends = \"#12:15\"\n"
      "[[insert]]\nfrom = [0, 2]\nto = \"1\"\nat = \"main\"\nbytes = \"1KiB\"\ntag = 3\n"
      "[[balance]]\nweights = \"1:1:2:1\"\nper = \"interval\"\n"};
}

bool is_text() {
  return true;
}

}  // namespace nplus1::fuzz

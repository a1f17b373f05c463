// Any text as nplus1.toml, for a command line with options of every kind that the verbs have. What is wrong is a Failure;
// nothing else may come out.
#include "cli/settings_file.hpp"

#include <cstdint>

#include "cli/failure.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {
namespace {

/// Where options put their values, as the verbs' own structures do.
struct Values {
  std::string text;
  std::vector<std::string> list;
  int count = 0;
  std::uint64_t bytes = 0;
  double share = 0;
  bool flag = false;
};

void declare(CLI::App& verb, Values& values) {
  verb.add_option("-n,--ranks", values.text, "Text");
  verb.add_option("--scale", values.list, "May be given several times");
  verb.add_option("--analysers", values.count, "An integer in a range")->check(CLI::Range(1, 64));
  verb.add_option("--record-cap", values.bytes, "A size")->transform(CLI::AsSizeValue{false});
  verb.add_option("--alpha", values.share, "A real number")->check(CLI::Range(0.0, 1.0));
  verb.add_option("--transport", values.text, "A word of several")
      ->check(CLI::IsMember({"auto", "shm", "tcp"}));
  verb.add_flag("-q,--quiet", values.flag, "Yes or no");
}

}  // namespace

bool run(Input input) {
  const MemoryFile file{as_text(input)};
  bool whole = true;
  for (const char* verb : {"run", "guidelines check"}) {
    CLI::App app;
    Values values;
    declare(*app.add_subcommand("run"), values);
    CLI::App* group = app.add_subcommand("guidelines");
    declare(*group->add_subcommand("check"), values);
    declare(*group->add_subcommand("measure"), values);
    cli::use_settings_file(app);
    try {
      app.parse(verb + (" --config " + file.path().string()));
    } catch (const cli::Failure&) {  // the file is refused, with its line
      whole = false;
    }
  }
  return whole;
}

std::vector<std::string> seeds() {
  return {
      "[run]\nranks = 4\nquiet = true\nscale = [\"region=a,factor=0.5\", \"ranks=0-3\"]\ntransport = "
      "\"tcp\"\n",
      "[guidelines.check]\nalpha = 0.05\nanalysers = 2\nrecord-cap = "
      "\"64KiB\"\n\n[guidelines.measure]\nalpha = 1e-3\n",
      "[guidelines]\ncheck = {alpha = 0.5, quiet = false}\n# \"run\" as a dotted key\nmeasure.analysers = "
      "3\n"};
}

bool is_text() {
  return true;
}

}  // namespace nplus1::fuzz

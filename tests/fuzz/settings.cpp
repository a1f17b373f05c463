// Any text as nplus1.toml, read for every verb that the command line has. What is wrong is a Failure or CLI11's own
// error; nothing is started.
#include "cli/settings_file.hpp"

#include <array>

#include "cli/failure.hpp"
#include "cli/verbs.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {
namespace {

constexpr std::array<const char*, 6> kVerbs{"run",         "replay",   "whatif",
                                            "collectives", "patterns", "guidelines check"};

void read_for(const std::string& verb, const std::filesystem::path& file) {
  CLI::App app;
  cli::Action chosen;
  const std::vector<std::string> after_dashes{"./app"};
  cli::add_verbs({app, chosen, after_dashes, true});
  try {
    app.parse(verb + " --config " + file.string());
  } catch (const CLI::Error&) {    // an option that must be given, a value that is refused
  } catch (const cli::Failure&) {  // the file
  }
}

}  // namespace

/// The first byte chooses the verb, the rest is the file.
void run(Input input) {
  if (input.empty()) return;
  const MemoryFile file{as_text(input.subspan(1))};
  read_for(kVerbs[input.front() % kVerbs.size()], file.path());
}

std::vector<std::string> seeds() {
  constexpr const char* kFile =
      "[run]\nranks = 4\nnetwork = \"lsb:latency=1e-6,bandwidth=1e9\"\ncompute = \"fixed:1ms\"\nquiet = "
      "true\n\n"
      "[replay]\nnetwork = \"loggops:L=1us,o=0.1us,g=0.2us,G=0.1ns\"\n\n[whatif]\nsweep = true\n"
      "scale = [\"region=a,factor=0.5\", \"ranks=0-3\"]\n\n[collectives]\nanalysers = 2\n\n[patterns]\n\n"
      "[guidelines.check]\nalpha = 0.05\n";
  std::vector<std::string> all;
  for (std::size_t verb = 0; verb < kVerbs.size(); ++verb)
    all.push_back(static_cast<char>(verb) + std::string{kFile});
  return all;
}

bool is_text() {
  return true;
}

}  // namespace nplus1::fuzz

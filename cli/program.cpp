#include "cli/program.hpp"

#include <map>
#include <memory>
#include <utility>

namespace nplus1::cli {
namespace {

std::map<const CLI::App*, Manual>& manuals() {
  static std::map<const CLI::App*, Manual> map;
  return map;
}

class ExamplesFirst : public CLI::Formatter {
 public:
  ExamplesFirst() { column_width(34); }

  std::string make_description(const CLI::App* app) const override {
    const std::string examples = manual_of(*app).examples;
    return CLI::Formatter::make_description(app) +
           (examples.empty() ? "" : "\nExamples:\n" + examples + "\n");
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    const std::string usage = manual_of(*app).usage;
    return usage.empty() ? CLI::Formatter::make_usage(app, std::move(name)) : "Usage: " + usage + "\n";
  }
};

constexpr const char* kTopExamples =
    "  nplus1 run -n 16 -- ./app args      run ./app on 16 ranks in virtual time\n"
    "  nplus1 demo                         the same with a bundled program\n"
    "  nplus1 doctor                       what works on this machine\n";

}  // namespace

void describe_program(CLI::App& app) {
  app.name("nplus1");
  app.description(
      "Runs an unmodified MPI program on a network you don't have, and tells what to fix.\n"
      "n ranks run natively; one more, the simulator, keeps virtual time.\n");
  app.formatter(std::make_shared<ExamplesFirst>());
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_version_flag("--version", "nplus1 " NPLUS1_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  set_manual(app, {"nplus1 VERB [OPTIONS]", kTopExamples});
}

void set_manual(const CLI::App& app, Manual manual) {
  manuals()[&app] = std::move(manual);
}

Manual manual_of(const CLI::App& app) {
  const auto found = manuals().find(&app);
  return found == manuals().end() ? Manual{} : found->second;
}

}  // namespace nplus1::cli

// Apart from the verbs themselves: who reads settings links it without them.
#include "cli/verbs.hpp"

namespace nplus1::cli {

std::vector<CLI::App*> verbs_of(CLI::App& app) {
  return app.get_subcommands([](CLI::App*) { return true; });
}

}  // namespace nplus1::cli

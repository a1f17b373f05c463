#include "cli/replay/transformations.hpp"

#include "hypothesis/transform/step.hpp"

namespace nplus1::cli {

void declare_transformations(CLI::App& verb, TransformationWords& words, const std::string& about) {
  for (const auto& step : hypothesis::transform::verbs())
    verb.add_option("--" + std::string{step.name}, words.settings[std::string{step.name}],
                    about + std::string{step.help} + "; may be repeated")
        ->type_name("KEY=VALUE,...")
        ->expected(1)
        ->take_all();
  verb.add_option("--hypothesis", words.files, about + "The same in a TOML file; may be repeated")
      ->type_name("FILE")
      ->expected(1)
      ->take_all();
}

void collect_transformations(const CLI::App& verb, TransformationWords& words) {
  std::map<const CLI::Option*, std::size_t> seen;
  for (const CLI::Option* option : verb.parse_order()) {
    const std::string name = option->get_lnames().empty() ? "" : option->get_lnames().front();
    for (const auto& step : hypothesis::transform::verbs())
      if (step.name == name) words.steps.emplace_back(name, option->results().at(seen[option]++));
  }
  for (const auto& step : hypothesis::transform::verbs()) {  // of the settings file: they have no order
    const std::string name{step.name};
    const CLI::Option* option = verb.get_option("--" + name);
    for (std::size_t& at = seen[option]; at < option->count(); ++at)
      words.steps.emplace_back(name, option->results().at(at));
  }
}

}  // namespace nplus1::cli

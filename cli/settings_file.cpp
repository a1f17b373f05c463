#include "cli/settings_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>

#include "cli/failure.hpp"
#include "cli/verbs.hpp"

#define TOML_EXCEPTIONS 0
#include "support/toml.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kDefaultFile = "nplus1.toml";
constexpr const char* kConfig = "config";

/// A table of the file, and where it stands.
struct Table {
  const toml::table& values;
  std::string name;  // "guidelines.run"; empty: the file itself
};

Failure wrong(const std::string& file, const toml::node& at, const std::string& cause,
              const std::string& next) {
  return {ExitCode::kUsage, fmt::format("{}:{}: {}", file, at.source().begin.line, cause), kNothingStarted,
          next};
}

std::string as_text(const toml::node& value) {
  if (const auto* text = value.as_string()) return text->get();
  std::ostringstream out;
  value.visit([&out](const auto& node) { out << node; });
  return out.str();
}

/// The option that a key stands for; null if there is none.
CLI::Option* option_of(CLI::App& verb, const std::string& key) {
  return key == "help" || key == kConfig ? nullptr : verb.get_option_no_throw("--" + key);
}

std::string known_keys(CLI::App& verb) {
  std::string keys;
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_lnames().empty() || option_of(verb, option->get_lnames().front()) == nullptr) continue;
    keys += (keys.empty() ? "" : ", ") + option->get_lnames().front();
  }
  return keys;
}

void check(CLI::App& app, const std::string& file, const Table& table) {
  for (const auto& [key, value] : table.values) {
    const std::string name{key.str()};
    const auto verbs = verbs_of(app);
    const auto found =
        std::find_if(verbs.begin(), verbs.end(), [&](const CLI::App* v) { return v->get_name() == name; });
    CLI::App* const verb = found == verbs.end() ? nullptr : *found;
    if (verb != nullptr && value.is_table()) {
      check(*verb, file, {*value.as_table(), table.name.empty() ? name : table.name + "." + name});
    } else if (table.name.empty() || !verbs.empty()) {
      std::string names;
      for (const CLI::App* known : verbs) names += (names.empty() ? "" : ", ") + known->get_name();
      throw wrong(file, value,
                  fmt::format("'{}' is no verb{}{} with a table of settings", name,
                              table.name.empty() ? "" : " of ", table.name),
                  "write [VERB] and below it KEY = VALUE; verbs are " + names);
    } else if (option_of(app, name) == nullptr) {
      throw wrong(file, value, fmt::format("[{}] has an unknown key '{}'", table.name, name),
                  fmt::format("use one of: {}", known_keys(app)));
    }
  }
}

void set(CLI::App& verb, const std::string& file, const std::string& key, const toml::node& value) {
  CLI::Option* option = option_of(verb, key);
  if (option->count() > 0) return;
  try {
    if (const toml::array* list = value.as_array())
      for (const toml::node& item : *list) option->add_result(as_text(item));
    else
      option->add_result(as_text(value));
    option->run_callback();
  } catch (const CLI::ParseError& error) {
    throw wrong(file, value, fmt::format("{}: {}", key, error.what()),
                fmt::format("correct it; nplus1 {} --help has the possible values", verb.get_name()));
  }
}

/// The file's settings for the chosen verb.
void use_file(CLI::App& app, const std::string& named) {
  const std::string file = named.empty() ? kDefaultFile : named;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    if (named.empty()) return;
    throw Failure{ExitCode::kUsage, fmt::format("settings file '{}' does not exist", file), kNothingStarted,
                  "check --config and NPLUS1_CONFIG"};
  }
  const toml::parse_result parsed = toml::parse_file(file);
  if (!parsed)
    throw Failure{
        ExitCode::kUsage,
        fmt::format("{}:{}: {}", file, parsed.error().source().begin.line, parsed.error().description()),
        kNothingStarted, "correct the line; the file is TOML, and must be readable"};
  check(app, file, {parsed.table(), ""});
  const toml::table* table = &parsed.table();
  CLI::App* verb = &app;
  while (table != nullptr && !verb->get_subcommands().empty()) {
    verb = verb->get_subcommands().front();
    table = (*table)[verb->get_name()].as_table();
  }
  if (table == nullptr || verb == &app) return;
  for (const auto& [key, value] : *table) set(*verb, file, std::string{key.str()}, value);
}

void declare(CLI::App& app, const std::shared_ptr<std::string>& named) {
  const auto verbs = verbs_of(app);
  for (CLI::App* verb : verbs) declare(*verb, named);
  if (!verbs.empty()) return;
  app.add_option(fmt::format("--{}", kConfig), *named, "Settings file (default: nplus1.toml, if it is there)")
      ->envname("NPLUS1_CONFIG")
      ->type_name("FILE");
}

}  // namespace

void use_settings_file(CLI::App& app) {
  const auto named = std::make_shared<std::string>();
  declare(app, named);
  app.parse_complete_callback([&app, named] { use_file(app, *named); });
}

}  // namespace nplus1::cli

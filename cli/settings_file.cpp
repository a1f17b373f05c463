#include "cli/settings_file.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <sstream>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "cli/failure.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kDefaultFile = "nplus1.toml";

std::string as_text(const toml::node& value) {
  if (const auto* text = value.as_string()) return text->get();
  std::ostringstream out;
  value.visit([&out](const auto& node) { out << node; });
  return out.str();
}

std::string known_keys(const CLI::App& verb) {
  std::string keys;
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_lnames().empty() || option->get_lnames().front() == "help") continue;
    keys += (keys.empty() ? "" : ", ") + option->get_lnames().front();
  }
  return keys;
}

void apply(CLI::App& verb, const std::string& file, const std::string& key, const toml::node& value) {
  CLI::Option* option = verb.get_option_no_throw("--" + key);
  if (option == nullptr) {
    throw Failure{ExitCode::kUsage,
                  fmt::format("{}: [{}] has an unknown key '{}'", file, verb.get_name(), key),
                  kNothingStarted, fmt::format("use one of: {}", known_keys(verb))};
  }
  if (option->count() > 0) return;
  try {
    option->add_result(as_text(value));
    option->run_callback();
  } catch (const CLI::ParseError& error) {
    throw Failure{ExitCode::kUsage, fmt::format("{}: {}: {}", file, key, error.what()), kNothingStarted,
                  fmt::format("correct it; nplus1 {} --help has the possible values", verb.get_name())};
  }
}

}  // namespace

void apply_settings_file(CLI::App& verb, const std::string& named) {
  const std::string file = named.empty() ? kDefaultFile : named;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    if (named.empty()) return;
    throw Failure{ExitCode::kUsage, fmt::format("settings file '{}' does not exist", file), kNothingStarted,
                  "check --config and NPLUS1_CONFIG"};
  }
  const toml::parse_result parsed = toml::parse_file(file);
  if (!parsed) {
    throw Failure{
        ExitCode::kUsage,
        fmt::format("{}:{}: {}", file, parsed.error().source().begin.line, parsed.error().description()),
        kNothingStarted, "correct the line; the file is TOML"};
  }
  const toml::table* section = parsed[verb.get_name()].as_table();
  if (section == nullptr) return;
  for (const auto& [key, value] : *section) apply(verb, file, std::string{key.str()}, value);
}

}  // namespace nplus1::cli

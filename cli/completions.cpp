#include "cli/completions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/verbs.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace {

struct Entry {
  std::string word;
  std::string description;
};

/// A verb's words: "" is the command itself, "guidelines run" a verb of a verb.
struct Place {
  std::string path;
  std::vector<Entry> verbs;
  std::vector<Entry> options;
};

/// One line of it: what a list has room for.
std::string short_form(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

std::vector<Entry> options_of(const CLI::App& app) {
  std::vector<Entry> entries;
  for (const CLI::Option* option : app.get_options()) {
    const std::string description = short_form(option->get_description());
    for (const std::string& name : option->get_snames()) entries.push_back({"-" + name, description});
    for (const std::string& name : option->get_lnames()) entries.push_back({"--" + name, description});
  }
  return entries;
}

void add_places(CLI::App& app, const std::string& path, std::vector<Place>& places) {
  Place place{path, {}, options_of(app)};
  for (const CLI::App* verb : verbs_of(app))
    place.verbs.push_back({verb->get_name(), short_form(verb->get_description())});
  places.push_back(std::move(place));
  for (CLI::App* verb : verbs_of(app))
    add_places(*verb, (path.empty() ? "" : path + " ") + verb->get_name(), places);
}

std::vector<Place> places_of(CLI::App& app) {
  std::vector<Place> places;
  add_places(app, "", places);
  return places;
}

/// Patterns of a `case`: each path that a verb makes longer, and the verb.
std::string steps(const std::vector<Place>& places) {
  std::string patterns;
  for (const Place& place : places)
    for (const Entry& verb : place.verbs)
      patterns += fmt::format("{}\"{} {}\"", patterns.empty() ? "" : " | ", place.path, verb.word);
  return patterns;
}

/// An array of "word:description".
std::string zsh_array(const char* name, const std::vector<Entry>& entries) {
  std::string text = fmt::format("      {}=(\n", name);
  for (const Entry& entry : entries) {
    std::string described = entry.word + ":";
    for (const char c : entry.description) described += c == ':' ? std::string{"\\:"} : std::string{c};
    text += fmt::format("        {}\n", quote(described));
  }
  return text + "      )\n";
}

/// When a place's words are offered. `with_verbs`: the verbs that have verbs of their own; `run` behind them is another verb.
std::string fish_condition(const Place& place, const std::string& with_verbs) {
  if (place.path.empty()) return "__fish_use_subcommand";
  if (const auto space = place.path.find(' '); space != std::string::npos)
    return fmt::format("__fish_seen_subcommand_from {}; and __fish_seen_subcommand_from {}",
                       place.path.substr(0, space), place.path.substr(space + 1));
  return fmt::format("__fish_seen_subcommand_from {}{}", place.path,
                     place.verbs.empty() ? "; and not __fish_seen_subcommand_from" + with_verbs : "");
}

}  // namespace

std::string bash_completions(CLI::App& app) {
  const auto places = places_of(app);
  std::string text = fmt::format(
      "# Completions of nplus1 for bash.\n"
      "_nplus1() {{\n"
      "  local word i path= words= current=${{COMP_WORDS[COMP_CWORD]}}\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    word=${{COMP_WORDS[i]}}\n"
      "    [[ $word == -- ]] && return\n"
      "    case \"$path $word\" in\n"
      "      {}) path=\"${{path:+$path }}$word\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case $path in\n",
      steps(places));
  for (const Place& place : places) {
    std::string words;
    for (const auto* list : {&place.verbs, &place.options})
      for (const Entry& entry : *list) words += (words.empty() ? "" : " ") + entry.word;
    text += fmt::format("    {}) words={} ;;\n", quote(place.path), quote(words));
  }
  return text +
         "  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "  [[ $current == -* ]] || mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- "
         "\"$current\")\n"
         "}\n"
         "complete -o filenames -o default -F _nplus1 nplus1\n";
}

std::string zsh_completions(CLI::App& app) {
  const auto places = places_of(app);
  std::string text = fmt::format(
      "#compdef nplus1\n"
      "# Completions of nplus1 for zsh.\n"
      "_nplus1() {{\n"
      "  local word path_of_verbs=\n"
      "  local -a verbs options\n"
      "  for word in ${{words[2,CURRENT-1]}}; do\n"
      "    if [[ $word == -- ]]; then _files; return; fi\n"
      "    case \"$path_of_verbs $word\" in\n"
      "      ({}) path_of_verbs=\"${{path_of_verbs:+$path_of_verbs }}$word\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case $path_of_verbs in\n",
      steps(places));
  for (const Place& place : places) {
    text += fmt::format("    ({})\n", quote(place.path));
    text += zsh_array("verbs", place.verbs) + zsh_array("options", place.options) + "      ;;\n";
  }
  return text +
         "  esac\n"
         "  if [[ $PREFIX == -* ]]; then _describe -o option options; return; fi\n"
         "  (( $#verbs )) && _describe verb verbs\n"
         "  _files\n"
         "}\n"
         "_nplus1 \"$@\"\n";
}

std::string fish_completions(CLI::App& app) {
  const auto places = places_of(app);
  std::string text = "# Completions of nplus1 for fish.\n";
  std::string with_verbs;
  for (const Place& place : places)
    if (!place.path.empty() && !place.verbs.empty()) with_verbs += " " + place.path;
  for (const Place& place : places) {
    const std::string condition = quote(fish_condition(place, with_verbs));
    for (const Entry& verb : place.verbs)
      text += fmt::format("complete -c nplus1 -n {} -a {} -d {}\n", condition, verb.word,
                          quote(verb.description));
    for (const Entry& option : place.options) {
      const bool is_long = option.word.starts_with("--");
      text += fmt::format("complete -c nplus1 -n {} {} {} -d {}\n", condition, is_long ? "-l" : "-s",
                          option.word.substr(is_long ? 2 : 1), quote(option.description));
    }
  }
  return text;
}

}  // namespace nplus1::cli

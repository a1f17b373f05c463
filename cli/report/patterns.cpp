// `nplus1 patterns`: who talks to whom, how much and how long, from a result folder or a recording.
#include <fmt/core.h>

#include <memory>
#include <optional>
#include <utility>

#include "analyses/patterns.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/verbs.hpp"
#include "netmodel/collectives/selection.hpp"
#include "patterns/first_screen.hpp"
#include "patterns/patterns_csv.hpp"
#include "patterns/patterns_json.hpp"
#include "patterns/renumbering.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kPatternsExamples =
    "  nplus1 patterns nplus1-app-16-1                  the first screen\n"
    "  nplus1 patterns DIR --heatmap --layers p2p,bcast  both densities, with the broadcasts drawn in\n"
    "  nplus1 patterns DIR --heatmap --layers wire       what goes over the wire: collectives as messages\n"
    "  nplus1 patterns DIR --topology nodes:4            would another numbering of the ranks save traffic?\n"
    "  nplus1 patterns DIR --topology torus:4x4x2\n"
    "  nplus1 patterns DIR --size-unit elements          sizes in elements of the datatype\n"
    "  nplus1 patterns DIR --csv tables --json all.json  for other programs\n";

struct PatternsOptions {
  std::string source;
  std::string layers = "p2p";
  std::string size_unit = "bytes";
  std::string topology;
  std::string collectives;
  std::string json;
  std::string csv;
  bool heatmap = false;
};

patterns::ScreenOptions screen_options(const PatternsOptions& options, const patterns::Patterns& patterns) {
  patterns::ScreenOptions screen;
  screen.layers = or_fail(patterns::parse_layers(options.layers, patterns), ExitCode::kUsage, kNothingShown);
  screen.elements = options.size_unit == "elements";
  screen.heatmap = options.heatmap;
  screen.style = {report::unicode_locale()};
  return screen;
}

void check_elements(const patterns::Layer& layer) {
  if (layer.elements) return;
  throw Failure{ExitCode::kNoInput, "this run has no sizes in elements: no details of the calls were taken",
                kNothingShown, "leave out --size-unit, or run with --record full and give the recording"};
}

/// The line for the terminal where there is no advice to show.
std::string advise(patterns::Patterns& patterns, const patterns::Layer& layer, const std::string& text) {
  const auto topology =
      or_fail(patterns::Topology::parse(text, patterns.ranks()), ExitCode::kUsage, kNothingShown);
  if (patterns.ranks() > patterns::kMostRenumbered) {
    throw Failure{ExitCode::kUsage, fmt::format("{} ranks are too many for --topology", patterns.ranks()),
                  kNothingShown, fmt::format("it takes up to {}", patterns::kMostRenumbered)};
  }
  patterns.renumbering = patterns::renumber(layer, patterns.ranks(), topology);
  return patterns.renumbering ? "" : fmt::format("\nRenumbering for {}: nothing better found\n", text);
}

int show(const PatternsOptions& options) {
  (void)or_fail(netmodel::Selection::parse(options.collectives), ExitCode::kUsage, kNothingShown);
  auto source =
      or_fail(analyses::load_patterns(options.source, options.size_unit == "elements", options.collectives),
              ExitCode::kNoInput, kNothingShown);
  patterns::Patterns& all = source.patterns;
  const auto screen = screen_options(options, all);
  const patterns::Layer layer = patterns::combine(all, screen.layers);
  if (screen.elements) check_elements(layer);
  const std::string advice = options.topology.empty() ? "" : advise(all, layer, options.topology);
  if (!options.json.empty())
    or_fail(report::write_file(options.json, patterns::patterns_json(all)), ExitCode::kCantCreate,
            kNothingShown);
  if (!options.csv.empty())
    or_fail(patterns::write_csv(options.csv, all, layer, screen.elements), ExitCode::kCantCreate,
            kNothingShown);
  fmt::print("{}{}", patterns::first_screen(all, screen), advice);
  if (!source.note.empty()) fmt::print("\n{}\n", source.note);
  return static_cast<int>(ExitCode::kOk);
}

void declare(CLI::App& verb, PatternsOptions& options) {
  verb.add_option("source", options.source, "Result folder of a run, its patterns.json, or a recording")
      ->type_name("DIR|RECORDING")
      ->required();
  verb.add_option(
          "--layers", options.layers,
          "Layers of sizes, heatmaps, tables and advice: p2p, a collective such as bcast, several with "
          "commas, or all; or wire: what travels, the messages of which collectives are made included [p2p]")
      ->type_name("NAMES");
  verb.add_flag("--heatmap", options.heatmap, "Show message density and data density as shades");
  verb.add_option("--size-unit", options.size_unit, "Message sizes in bytes or elements [bytes]")
      ->check(CLI::IsMember({"bytes", "elements"}))
      ->type_name("UNIT");
  verb.add_option("--topology", options.topology,
                  "Advise on numbering the ranks for nodes:RANKS_PER_NODE or torus:XxYxZ")
      ->type_name("MACHINE");
  verb.add_option(
          "--collectives", options.collectives,
          "Algorithms whose messages the layer wire has, as in nplus1 run; needs a recording [the run's]")
      ->type_name("CHOICE");
  verb.add_option("--json", options.json, "Write everything to this file (replaces it)")->type_name("FILE");
  verb.add_option("--csv", options.csv, "Write tables into this folder, which must not have them yet")
      ->type_name("FOLDER");
}

}  // namespace

void add_patterns(const Registration& registration) {
  CLI::App* verb =
      registration.app.add_subcommand("patterns", "Show who talks to whom, how much, and how long they wait");
  set_manual(*verb, {"nplus1 patterns DIR|RECORDING [options]", kPatternsExamples});
  const auto options = std::make_shared<PatternsOptions>();
  declare(*verb, *options);
  verb->callback([registration, options] { registration.chosen = [options] { return show(*options); }; });
}

}  // namespace nplus1::cli

// Any text as patterns.json: read, shown, written again, and compared with what it was made of.
#include <random>

#include "events/checked_sink.hpp"
#include "events/recording/testing/scratch_folder.hpp"
#include "patterns/difference.hpp"
#include "patterns/first_screen.hpp"
#include "patterns/message_statistics.hpp"
#include "patterns/patterns_csv.hpp"
#include "patterns/patterns_json.hpp"
#include "tests/fuzz/events_of.hpp"

namespace nplus1::fuzz {
namespace {

constexpr std::size_t kMostShown = 256;  // ranks: a matrix of millions of cells takes its time

std::string made(unsigned seed) {
  patterns::MessageStatistics statistics{4};
  std::mt19937 random{seed};
  std::string bytes(600, '\0');
  for (char& b : bytes) b = static_cast<char>(random() % 250);
  Choices choices{{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}};
  events::CheckedSink checked{4, 1000, statistics};
  EventsOf{choices, 4, checked}.all(80);
  patterns::Patterns patterns = statistics.patterns();
  if (seed % 2 == 0) patterns.renumbering = patterns::Renumbering{"nodes:2", 100, 40, {2, 0, 1, 3}};
  return patterns::patterns_json(patterns);
}

}  // namespace

bool run(Input input) {
  static const patterns::Patterns known = patterns::parse_patterns(made(1), "known").value();
  const auto read = patterns::parse_patterns(std::string{as_text(input)}, "fuzz.json");
  if (!read) return false;
  const patterns::Patterns& p = read.value();
  static_cast<void>(patterns::difference_text(patterns::compare(known, p), "known", "fuzz"));
  static_cast<void>(patterns::difference_text(patterns::compare(p, known), "fuzz", "known"));
  static_cast<void>(patterns::patterns_json(p));
  if (p.ranks() > kMostShown) return true;
  patterns::ScreenOptions screen;
  screen.heatmap = true;
  static_cast<void>(patterns::first_screen(p, screen));
  const events::recording::ScratchFolder folder{in_memory()};
  return patterns::write_csv(folder.path(), p, p.layers.front(), false).ok();
}

std::vector<std::string> seeds() {
  return {made(1), made(2), made(3)};
}

bool is_text() {
  return true;
}

}  // namespace nplus1::fuzz

// An OTF2 archive that we wrote, with bytes of its files changed: mostly without the checksums of ours, as others' archives
// are, so that the OTF2 library meets the change. It runs in a child of its own, which may crash; we must not.
#include "events/otf2/otf2.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "events/checked_sink.hpp"
#include "events/definitions_collector.hpp"
#include "events/otf2/checksums.hpp"
#include "events/recording/testing/scratch_folder.hpp"
#include "tests/fuzz/events_of.hpp"

namespace nplus1::fuzz {
namespace {

namespace fs = std::filesystem;

/// What the exporter is promised: only what has passed the check.
void write_archive(const fs::path& folder, Choices& choices) {
  const auto ranks = static_cast<std::int32_t>(1 + choices.below(4));
  auto exporter = events::otf2::create(folder, {ranks, {{"application", "fuzz"}}});
  if (!exporter) return;
  events::CheckedSink checked{ranks, 1000, *exporter.value()};
  EventsOf{choices, ranks, checked}.all(200);
  static_cast<void>(exporter.value()->close());
}

void change_a_file(const fs::path& folder, Choices& choices) {
  if (!choices.once_in(16)) fs::remove(folder / events::otf2::kChecksums);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator{folder})
    if (entry.is_regular_file()) files.push_back(entry.path());
  if (files.empty()) return;
  std::sort(files.begin(), files.end());  // the same input is the same archive
  const fs::path& file = files[choices.below(files.size())];
  std::ifstream in{file, std::ios::binary};
  std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  in.close();
  for (std::uint64_t i = choices.below(4); i > 0 && !bytes.empty(); --i)
    bytes[choices.below(bytes.size())] = static_cast<char>(choices.byte());
  std::ofstream{file, std::ios::binary} << bytes;
}

}  // namespace

bool run(Input input) {
  Choices choices{input};
  const bool changes = choices.once_in(2);
  const Input change =
      input.subspan(std::min<std::size_t>(input.size(), 1), std::min<std::size_t>(input.size(), 17) / 2);
  const events::recording::ScratchFolder scratch{in_memory()};
  const fs::path& folder = scratch.path();
  write_archive(folder / "out", choices);
  Choices changing{change};
  if (changes && fs::exists(folder / "out")) change_a_file(folder / "out", changing);
  auto importer = events::otf2::open(folder / "out", {std::chrono::seconds{10}, std::size_t{2} << 30U});
  if (!importer) return false;
  events::DefinitionsCollector sink;
  return importer.value()->read(sink).ok();
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (unsigned seed = 0; seed < 8; ++seed) {
    std::string bytes(600, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>((i * 37 + seed * 11) % 251);
    all.push_back(std::move(bytes));
  }
  return all;
}

bool is_text() {
  return false;
}

}  // namespace nplus1::fuzz

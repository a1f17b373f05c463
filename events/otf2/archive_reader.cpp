// The importer: definitions, then all locations, merged by time.
#include <otf2/otf2.h>

#include <algorithm>
#include <queue>
#include <set>

#include "events/otf2/checksums.hpp"
#include "events/otf2/definition_reader.hpp"
#include "events/otf2/guarded.hpp"
#include "events/otf2/location_reader.hpp"
#include "events/otf2/otf2.hpp"
#include "events/otf2/quiet.hpp"
#include "events/text/text.hpp"

namespace nplus1::events::otf2 {
namespace {

namespace fs = std::filesystem;

struct CloseReader {
  void operator()(OTF2_Reader* reader) const { OTF2_Reader_Close(reader); }
};
using Reader = std::unique_ptr<OTF2_Reader, CloseReader>;

/// They map a location's own numbers to the global ones; the library applies that by itself.
void read_local_definitions(OTF2_Reader* reader, const std::vector<Place>& places) {
  if (OTF2_Reader_OpenDefFiles(reader) != OTF2_SUCCESS) return;
  for (const Place& place : places) {
    OTF2_DefReader* definitions = OTF2_Reader_GetDefReader(reader, place.location);
    if (definitions == nullptr) continue;
    std::uint64_t count = 0;
    if (OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &count) != OTF2_SUCCESS)
      throw Damaged{"the definitions of location " + std::to_string(place.location) + " cannot be read"};
    OTF2_Reader_CloseDefReader(reader, definitions);
  }
  OTF2_Reader_CloseDefFiles(reader);
}

/// Hands on the locations' events in the order in which they came out.
class Merge {
 public:
  Merge(OTF2_Reader* reader, const DefinitionReader& definitions, EventSink& sink)
      : ours_{definitions.is_ours()},
        sink_{sink},
        ordinals_(static_cast<std::size_t>(definitions.preamble().ranks)) {
    for (const Place& place : definitions.places()) {
      if (place.events == 0 && ours_) continue;
      readers_.push_back(std::make_unique<LocationReader>(reader, definitions, place));
      ranks_.push_back(place.rank);
      push(readers_.size() - 1);
    }
  }

  void run() {
    while (!heap_.empty()) {
      const std::size_t which = heap_.top().second;
      heap_.pop();
      hand_on(which);
      readers_[which]->pop();
      push(which);
    }
  }

  [[nodiscard]] std::vector<std::string> missing() const { return {missing_.begin(), missing_.end()}; }

 private:
  using Entry = std::pair<Time, std::size_t>;

  void push(std::size_t which) {
    LocationReader& reader = *readers_[which];
    if (const auto* item = reader.front()) {
      heap_.emplace(item->at, which);
    } else {
      missing_.insert(reader.missing().begin(), reader.missing().end());
      reader.close();
    }
  }
  void hand_on(std::size_t which) {
    const LocationReader::Item& item = *readers_[which]->front();
    if (item.is_match) return sink_.on_match(ranks_[which], item.match);
    TimedEvent event = item.event.view();
    if (!ours_) event.ordinal = ordinals_[event.rank.index()]++;
    sink_.on_event(event);
  }

  bool ours_;
  EventSink& sink_;
  std::vector<std::uint64_t> ordinals_;
  std::vector<std::unique_ptr<LocationReader>> readers_;
  std::vector<RankId> ranks_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
  std::set<std::string> missing_;
};

std::vector<std::string> read_archive(const fs::path& anchor, int descriptor) {
  keep_library_quiet();
  if (const auto sound = verify_checksums(anchor.parent_path()); !sound) throw Damaged{sound.error().what};
  const Reader reader{OTF2_Reader_Open(anchor.c_str())};
  if (reader == nullptr) throw Damaged{"the OTF2 library cannot open it"};
  OTF2_Reader_SetSerialCollectiveCallbacks(reader.get());
  DefinitionReader definitions;
  definitions.read(reader.get());
  for (const Place& place : definitions.places()) OTF2_Reader_SelectLocation(reader.get(), place.location);
  read_local_definitions(reader.get(), definitions.places());
  if (OTF2_Reader_OpenEvtFiles(reader.get()) != OTF2_SUCCESS)
    throw Damaged{"its event files cannot be opened"};

  const auto rows = text::print_to(descriptor, text::Syntax::kCsv, definitions.preamble());
  definitions.feed(*rows);
  Merge merge{reader.get(), definitions, *rows};
  merge.run();
  auto missing = merge.missing();
  if (!definitions.is_ours())
    missing.insert(missing.begin(),
                   {"datatypes and counts, hashes, buffers, call paths",
                    "which message of its sender a receive got (they are matched in order)"});
  return missing;
}

bool is_anchor(const fs::path& path) {
  return path.extension() == ".otf2" && fs::is_regular_file(path);
}

Result<fs::path> find_anchor(const fs::path& path) {
  if (is_anchor(path)) return path;
  std::vector<fs::path> found;
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::directory_iterator{path}) {
      if (is_anchor(entry.path())) found.push_back(entry.path());
    }
  }
  if (found.size() == 1) return found.front();
  return Error{path.string() + (found.empty() ? ": no OTF2 anchor file (*.otf2) there"
                                              : ": several OTF2 anchor files there"),
               "name the anchor file itself, often traces.otf2"};
}

std::chrono::seconds time_for(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator{folder, ignored}) {
    if (entry.is_regular_file(ignored)) bytes += entry.file_size(ignored);
  }
  return std::chrono::seconds{30 + static_cast<std::int64_t>(bytes >> 20)};
}

}  // namespace

Result<std::unique_ptr<exchange::Importer>> open(const fs::path& archive, const Limits& wanted) {
  auto anchor = find_anchor(archive);
  if (!anchor) return anchor.error();
  const fs::path file = anchor.value();
  Limits limits = wanted;
  if (limits.time.count() == 0) limits.time = time_for(file.parent_path());
  return read_guarded(file, limits, [file](int descriptor) { return read_archive(file, descriptor); });
}

}  // namespace nplus1::events::otf2

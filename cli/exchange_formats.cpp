#include "cli/exchange_formats.hpp"

#include <algorithm>
#include <utility>

#include "cli/collective_rounds.hpp"
#include "events/exchange/new_file.hpp"
#include "events/goal/goal.hpp"
#include "events/otf2/otf2.hpp"
#include "events/recording/reader.hpp"
#include "events/recording/writer.hpp"
#include "events/text/text.hpp"
#include "events/time_independent/time_independent.hpp"

namespace nplus1::cli {
namespace {

namespace fs = std::filesystem;
namespace recording = events::recording;
using events::exchange::Exported;
using events::exchange::Exporter;
using events::exchange::Imported;
using events::exchange::Importer;
using events::exchange::NewFolder;
using events::exchange::Preamble;

struct Known {
  Format format;
  const char* name;
  const char* ending;
};
constexpr Known kKnown[] = {{Format::kRecording, "recording", ".n1r"},
                            {Format::kOtf2, "otf2", ".otf2"},
                            {Format::kCsv, "csv", ".csv"},
                            {Format::kJsonLines, "jsonl", ".jsonl"},
                            {Format::kTimeIndependent, "ti", ".ti"},
                            {Format::kGoal, "goal", ".goal"}};

std::optional<Format> by_ending(const fs::path& path) {
  fs::path clean = path.lexically_normal();
  if (!clean.has_filename()) clean = clean.parent_path();
  const auto found = std::find_if(std::begin(kKnown), std::end(kKnown),
                                  [&](const Known& known) { return clean.extension() == known.ending; });
  return found == std::end(kKnown) ? std::nullopt : std::optional{found->format};
}

class RecordingImporter final : public Importer {
 public:
  explicit RecordingImporter(recording::Reader reader) : reader_{std::move(reader)} {
    preamble_ = {reader_.header().ranks, reader_.properties()};
  }
  const Preamble& preamble() const override { return preamble_; }
  Result<Imported> read(events::EventSink& sink) override {
    auto coverage = reader_.read(sink);
    if (!coverage) return coverage.error();
    Imported imported{coverage.value().events, coverage.value().matches, {}};
    if (!coverage.value().complete) imported.missing.push_back(coverage.value().text());
    return imported;
  }

 private:
  recording::Reader reader_;
  Preamble preamble_;
};

class RecordingExporter final : public Exporter {
 public:
  RecordingExporter(NewFolder folder, std::unique_ptr<recording::Writer> writer)
      : folder_{std::move(folder)}, writer_{std::move(writer)} {}
  void on_event(const events::TimedEvent& event) override { writer_->on_event(event); }
  void on_match(RankId receiver, const events::Answer& match) override { writer_->on_match(receiver, match); }
  void on_communicator(const events::Communicator& c) override { writer_->on_communicator(c); }
  void on_call_path(const events::CallPath& path) override { writer_->on_call_path(path); }
  void on_region(const events::Region& region) override { writer_->on_region(region); }
  void on_datatype(const events::Datatype& datatype) override { writer_->on_datatype(datatype); }
  Result<Exported> close() override {
    if (auto error = writer_->close()) return *error;
    const auto events = writer_->totals().events;
    writer_.reset();
    if (const auto done = folder_.commit(); !done) return done.error();
    return Exported{events, {}};
  }

 private:
  NewFolder folder_;
  std::unique_ptr<recording::Writer> writer_;
};

Result<std::unique_ptr<Importer>> open_recording(const fs::path& path) {
  auto reader = recording::Reader::open(path);
  if (!reader) return reader.error();
  return std::unique_ptr<Importer>{std::make_unique<RecordingImporter>(std::move(reader).value())};
}

Result<std::unique_ptr<Exporter>> create_recording(const fs::path& path, const Preamble& preamble) {
  auto folder = NewFolder::create(path);
  if (!folder) return folder.error();
  auto writer = recording::Writer::create(folder.value().path(), {preamble.ranks, preamble.properties});
  if (!writer) return writer.error();
  return std::unique_ptr<Exporter>{
      std::make_unique<RecordingExporter>(std::move(folder).value(), std::move(writer).value())};
}

bool holds(const fs::path& folder, const char* ending) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator{folder, ignored}) {
    if (entry.path().extension() == ending) return true;
  }
  return false;
}

}  // namespace

std::optional<Format> format_named(const std::string& name) {
  for (const Known& known : kKnown) {
    if (name == known.name) return known.format;
  }
  return std::nullopt;
}

const char* name_of(Format format) {
  return std::find_if(std::begin(kKnown), std::end(kKnown),
                      [&](const Known& k) { return k.format == format; })
      ->name;
}

std::optional<Format> guess_input(const fs::path& path) {
  if (!fs::is_directory(path)) {
    // A list of time-independent traces has no ending of its own.
    return path.extension() == ".txt" ? Format::kTimeIndependent : by_ending(path);
  }
  if (fs::exists(path / events::time_independent::kList)) return Format::kTimeIndependent;
  if (holds(path, ".n1r") || holds(path / "recording", ".n1r")) return Format::kRecording;
  if (holds(path, ".otf2")) return Format::kOtf2;
  return by_ending(path);
}

std::optional<Format> guess_output(const fs::path& path) {
  return by_ending(path);
}

Result<std::unique_ptr<Importer>> open_input(const fs::path& path, Format format,
                                             const ExchangeOptions& options) {
  switch (format) {
    case Format::kRecording:
      return open_recording(path);
    case Format::kOtf2:
      return events::otf2::open(path);
    case Format::kCsv:
      return events::text::open(path, events::text::Syntax::kCsv);
    case Format::kJsonLines:
      return events::text::open(path, events::text::Syntax::kJsonLines);
    case Format::kTimeIndependent:
      return events::time_independent::open(path, options.flops_per_second);
    case Format::kGoal:
      return events::goal::open(path);
  }
  return Error{"unknown format", ""};
}

Result<std::unique_ptr<Exporter>> create_output(const fs::path& path, Format format, const Preamble& preamble,
                                                const ExchangeOptions& options) {
  switch (format) {
    case Format::kRecording:
      return create_recording(path, preamble);
    case Format::kOtf2:
      return events::otf2::create(path, preamble);
    case Format::kCsv:
      return events::text::create(path, events::text::Syntax::kCsv, preamble);
    case Format::kJsonLines:
      return events::text::create(path, events::text::Syntax::kJsonLines, preamble);
    case Format::kTimeIndependent:
      return events::time_independent::create(path, preamble, collective_rounds, options.flops_per_second);
    case Format::kGoal:
      return events::goal::create(path, preamble, collective_rounds);
  }
  return Error{"unknown format", ""};
}

}  // namespace nplus1::cli

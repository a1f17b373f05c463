#include "analyses/exchange_formats.hpp"

#include <algorithm>
#include <utility>

#include "analyses/collective_rounds.hpp"
#include "events/exchange/new_file.hpp"
#include "events/goal/goal.hpp"
#include "events/otf2/otf2.hpp"
#include "events/recording/reader.hpp"
#include "events/recording/writer.hpp"
#include "events/text/text.hpp"
#include "events/time_independent/time_independent.hpp"

namespace nplus1::analyses {
namespace {

namespace fs = std::filesystem;
namespace recording = events::recording;
using events::exchange::Exported;
using events::exchange::Exporter;
using events::exchange::Imported;
using events::exchange::Importer;
using events::exchange::NewFolder;
using events::exchange::Preamble;

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

bool is_recording_folder(const fs::path& folder) {
  return holds(folder, ".n1r") || holds(folder / "recording", ".n1r");
}

Format text_format(const char* name, const char* ending, events::text::Syntax syntax) {
  return {name, ending,
          [syntax](const fs::path& path, const ExchangeOptions&) { return events::text::open(path, syntax); },
          [syntax](const fs::path& path, const Preamble& preamble, const ExchangeOptions&) {
            return events::text::create(path, syntax, preamble);
          }};
}

Format time_independent_format() {
  Format format{"ti", ".ti", {}, {}};
  format.open = [](const fs::path& path, const ExchangeOptions& options) {
    return events::time_independent::open(path, options.flops_per_second);
  };
  format.create = [](const fs::path& path, const Preamble& preamble, const ExchangeOptions& options) {
    return events::time_independent::create(path, preamble, collective_rounds, options.flops_per_second);
  };
  format.is_folder_of = [](const fs::path& path) {
    return fs::exists(path / events::time_independent::kList);
  };
  return format;
}

Format recording_format() {
  Format format{"recording", ".n1r", {}, {}, is_recording_folder};
  format.open = [](const fs::path& path, const ExchangeOptions&) { return open_recording(path); };
  format.create = [](const fs::path& path, const Preamble& preamble, const ExchangeOptions&) {
    return create_recording(path, preamble);
  };
  format.is_recording = true;
  return format;
}

Format otf2_format() {
  Format format{"otf2", ".otf2", {}, {}, [](const fs::path& path) { return holds(path, ".otf2"); }};
  format.open = [](const fs::path& path, const ExchangeOptions&) { return events::otf2::open(path); };
  format.create = [](const fs::path& path, const Preamble& preamble, const ExchangeOptions&) {
    return events::otf2::create(path, preamble);
  };
  format.paths_first = true;
  return format;
}

Format goal_format() {
  return {"goal", ".goal",
          [](const fs::path& path, const ExchangeOptions&) { return events::goal::open(path); },
          [](const fs::path& path, const Preamble& preamble, const ExchangeOptions&) {
            return events::goal::create(path, preamble, collective_rounds);
          }};
}

/// In the order in which --help names them.
std::vector<Format>& known_formats() {
  static std::vector<Format> all{recording_format(),
                                 otf2_format(),
                                 text_format("csv", ".csv", events::text::Syntax::kCsv),
                                 text_format("jsonl", ".jsonl", events::text::Syntax::kJsonLines),
                                 time_independent_format(),
                                 goal_format()};
  return all;
}

const Format* by_ending(const fs::path& path) {
  fs::path clean = path.lexically_normal();
  if (!clean.has_filename()) clean = clean.parent_path();
  const auto found = std::ranges::find(formats(), clean.extension().string(), &Format::ending);
  return found == formats().end() ? nullptr : &*found;
}

}  // namespace

const std::vector<Format>& formats() {
  return known_formats();
}

bool add_format(Format format) {
  known_formats().push_back(std::move(format));
  return true;
}

const Format* format_named(const std::string& name) {
  const auto found = std::ranges::find(formats(), name, &Format::name);
  return found == formats().end() ? nullptr : &*found;
}

const Format* guess_input(const fs::path& path) {
  if (!fs::is_directory(path)) {
    // A list of time-independent traces has no ending of its own.
    return path.extension() == ".txt" ? format_named("ti") : by_ending(path);
  }
  for (const char* name : {"ti", "recording", "otf2"})  // a result folder may hold an archive, too
    if (const Format* format = format_named(name); format->is_folder_of(path)) return format;
  for (const Format& format : formats())
    if (format.is_folder_of && format.is_folder_of(path)) return &format;
  return by_ending(path);
}

const Format* guess_output(const fs::path& path) {
  return by_ending(path);
}

Result<std::unique_ptr<Importer>> open_input(const fs::path& path, const Format& format,
                                             const ExchangeOptions& options) {
  if (!format.open) return Error{"the format " + format.name + " is only written", "convert from another"};
  return format.open(path, options);
}

Result<std::unique_ptr<Exporter>> create_output(const fs::path& path, const Format& format,
                                                const Preamble& preamble, const ExchangeOptions& options) {
  if (!format.create) return Error{"the format " + format.name + " is only read", "convert to another"};
  return format.create(path, preamble, options);
}

}  // namespace nplus1::analyses

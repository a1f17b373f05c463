#include "simnode/node/run_recording.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace nplus1::simnode::node {

using events::recording::Totals;
using events::recording::Writer;

namespace {
constexpr const char* kFolder = "recording";
constexpr double kTypicalEventBytes = 20;  // docs/benchmarks.md
}  // namespace

void RunRecording::begin(std::int32_t ranks, const std::string& application, const std::string& network) {
  std::error_code error;
  std::filesystem::create_directories(settings_.output, error);
  events::recording::Header header;
  header.ranks = ranks;
  header.properties = {{"application", application},
                       {"network", network},
                       {"storage", settings_.storage.describe()},
                       {"compute", settings_.compute},
                       {"protocol", settings_.protocol},
                       {"collectives", settings_.collectives},
                       {"poll-cost-ps", fmt::format("{},{}", settings_.poll_cost.first().count(),
                                                    settings_.poll_cost.cap().count())}};
  if (settings_.native) {
    header.properties = {
        {"application", application}, {"recorded", "native"}, {"compute", "real time between calls"}};
  }
  events::recording::WriterOptions options;
  options.size_cap = settings_.record_cap;
  auto writer = Writer::create(std::filesystem::path{settings_.output} / kFolder, header, options);
  if (writer.ok()) {
    writer_ = std::move(writer).value();
    return;
  }
  settings_.record = Record::kPatterns;  // the ranks need not take what nobody keeps
  notes_.push_back(fmt::format("Nothing was recorded: {}; {}", writer.error().what, writer.error().remedy));
}

std::optional<std::string> RunRecording::tick() {
  if (!writer_) return std::nullopt;
  writer_->tick();
  if (trouble_said_) return std::nullopt;
  const auto trouble = writer_->status();
  if (!trouble) return std::nullopt;
  trouble_said_ = true;
  if (settings_.quiet) return std::nullopt;
  return fmt::format(
      "nplus1: recording has stopped: {}\n  so:   the run goes on, the recording ends here; "
      "summary and patterns still count everything, if there is room to write them\n  next: {}\n",
      trouble->what, trouble->remedy);
}

void RunRecording::close() {
  const auto trouble = writer_->close();
  if (trouble)
    notes_.push_back(fmt::format("The recording is not complete: {}; {}", trouble->what, trouble->remedy));
  if (const Totals totals = writer_->totals(); totals.dropped_events > 0 && !trouble)
    notes_.push_back(
        fmt::format("The recording ends at its size cap: {} of {} events are not in it; see "
                    "--record-cap and --record-region",
                    totals.dropped_events, totals.events + totals.dropped_events));
}

report::Recording RunRecording::summary(double hashing_s) const {
  const Totals totals = writer_->totals();
  report::Recording r;
  r.path = kFolder;
  r.bytes = writer_->bytes();
  r.events = totals.events;
  r.dropped = totals.dropped_events;
  r.hashing_s = hashing_s;
  r.expected_bytes = r.bytes;
  const double each =
      r.events == 0 ? kTypicalEventBytes : static_cast<double>(r.bytes) / static_cast<double>(r.events);
  r.expected_bytes += static_cast<std::uint64_t>(each * static_cast<double>(r.dropped));
  return r;
}

void RunRecording::discard() {
  if (!writer_) return;
  writer_.reset();
  std::error_code error;
  std::filesystem::remove_all(std::filesystem::path{settings_.output} / kFolder, error);
}

}  // namespace nplus1::simnode::node

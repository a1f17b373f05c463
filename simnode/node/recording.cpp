// The recording of a run: DIR/recording, from the first rank's greeting to the end of the job.
#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <filesystem>

#include "events/mpi_call.hpp"
#include "simnode/node/node.hpp"

namespace nplus1::simnode::node {

using events::recording::Totals;
using events::recording::Writer;

namespace {
constexpr const char* kFolder = "recording";
constexpr double kTypicalEventBytes = 20;  // docs/benchmarks.md
}  // namespace

void Node::begin_recording(std::int32_t ranks) {
  std::error_code error;
  std::filesystem::create_directories(settings_.output, error);
  events::recording::Header header;
  header.ranks = ranks;
  header.properties = {{"application", application_},
                       {"network", network_->describe()},
                       {"storage", settings_.storage.describe()},
                       {"compute", settings_.compute},
                       {"protocol", settings_.protocol},
                       {"collectives", settings_.collectives},
                       {"poll-cost-ps", fmt::format("{},{}", settings_.poll_cost.first().count(),
                                                    settings_.poll_cost.cap().count())}};
  if (settings_.native) {
    header.properties = {
        {"application", application_}, {"recorded", "native"}, {"compute", "real time between calls"}};
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

/// What a rank has summed up, which is not the recording's.
void Node::take_last(Rank& rank, events::Event& event) {
  rank.finalized = true;
  hashing_s_ += 1e-9 * static_cast<double>(event.aux);
  system_clock_reads_ += static_cast<std::uint64_t>(event.size);
  working_threads_ += event.tag;
  event.aux = 0;
  event.size = 0;
  event.tag = 0;
}

/// What stands behind a rank's last event. What of it remains there: what the process has read and written.
std::span<const std::byte> Node::take_last_words(RankId rank, events::Event& event,
                                                 std::span<const std::byte> extension) {
  event.extension = 0;
  transport::LastWords words;
  if (extension.size() < sizeof(words)) return {};
  std::memcpy(&words, extension.data(), sizeof(words));
  sum_up(rank, words);
  constexpr std::size_t kNumbers = 4;
  if (words.counted_io == 0) return {};
  event.flags |= events::kHasBytesPerMember;
  event.aux = kNumbers;
  return extension.subspan(offsetof(transport::LastWords, bytes_read), kNumbers * sizeof(std::uint64_t));
}

void Node::sum_up(RankId rank, const transport::LastWords& words) {
  if (words.recorded_accesses != 0) ++ranks_with_accesses_;
  transport::LastWords& all = last_words_;
  for (const auto member :
       {&transport::LastWords::faults, &transport::LastWords::steps, &transport::LastWords::protects,
        &transport::LastWords::system_calls, &transport::LastWords::fault_ns, &transport::LastWords::step_ns,
        &transport::LastWords::protect_ns, &transport::LastWords::system_call_ns,
        &transport::LastWords::left_open})
    all.*member += words.*member;
  if (words.departed_threads == 0) return;
  ++departed_ranks_;
  if (departed_.value >= 0 && departed_.value < rank.value) return;
  departed_ = rank;
  all.departed_thread = words.departed_thread;
  all.followed = words.followed;
  all.found = words.found;
  all.expected = words.expected;
}

void Node::note_uncounted_ranks() {
  if (settings_.clock != "instructions" || settings_.native) return;
  const auto uncounted =
      std::count_if(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.start.counts == 0; });
  if (uncounted == 0) return;
  notes_.push_back(fmt::format(
      "The processor's counters could not be read on {} of {} ranks (--clock instructions): their "
      "computing is CPU time, with what the host's caches cost; nplus1 doctor on their hosts says why",
      uncounted, ranks_.size()));
}

/// One line each: rank, place in its stream of the event behind the computing, picoseconds.
void Node::take_warm_time(RankId rank, const events::Event& event) {
  fmt::format_to(std::back_inserter(warm_times_), "{} {} {} {}\n", rank.value, event.aux, event.compute_ps,
                 event.size);
}

std::string Node::access_cost_text() const {
  const auto& w = last_words_;
  const auto seconds = [](std::uint64_t ns) { return 1e-9 * static_cast<double>(ns); };
  return fmt::format(
      "{} faults ({:.3f} s of CPU time), {} single steps ({:.3f} s), {} changes of protection ({:.3f} s), {} "
      "system calls ({:.3f} s), taken out of the program's clock; {} times a page was left open because what "
      "lies beside the messages is used all the time{}",
      w.faults, seconds(w.fault_ns), w.steps, seconds(w.step_ns), w.protects, seconds(w.protect_ns),
      w.system_calls, seconds(w.system_call_ns), w.left_open,
      settings_.compute_times.mode == semantics::ComputeMode::kMeasured
          ? "; some 10 us of each fault and step may remain in the measured computing, so that only given "
            "compute times (--compute recorded:, fixed: or file:) make shares that hold"
          : "");
}

/// What the processor does after a page was closed lies outside of the handlers, and nothing measures it: some 10 to
/// 35 us a fault and 10 us a single step in a virtual machine (docs/accesses.md).
void Node::note_caught_accesses() {
  const std::uint64_t caught = last_words_.faults + last_words_.steps;
  if (caught == 0 || settings_.compute_times.mode != semantics::ComputeMode::kMeasured) return;
  const std::string run = fmt::format("nplus1 run -n {}", ranks_.size());
  notes_.push_back(fmt::format(
      "{} accesses to the memory of messages were caught, each of which may leave some 10 us in the measured "
      "computing. For times and shares that hold, take the computing from a run without it: {} -o plain -- "
      "{} "
      "...; {} --record-accesses --compute recorded:plain -- {} ... (with the other options of this run)",
      caught, run, application_, run, application_));
}

/// The calls are not those of the recording that gives the compute times.
void Node::note_departures() {
  if (departed_ranks_ == 0) return;
  const auto function = [](std::uint16_t call) {
    return call == 0 ? std::string{"no further call"}
                     : std::string{events::name(static_cast<events::MpiCall>(call))};
  };
  const auto& w = last_words_;
  notes_.push_back(fmt::format(
      "{} of {} ranks did not make the calls of {}, which was to give the compute times: rank {}{} called {} "
      "where it has {}, after {} calls; from there on the compute times of such ranks are measured",
      departed_ranks_, ranks_.size(), settings_.compute_times.table, departed_.value,
      w.departed_thread == 0 ? "" : fmt::format(", thread {},", w.departed_thread), function(w.found),
      function(w.expected), w.followed));
}

/// A thread that spins until the others of its rank get a core seems to compute.
void Node::note_crowded_threads() {
  const int threads = working_threads_ + static_cast<int>(ranks_.size());
  const int cores = ranks_.front().start.cores;
  if (working_threads_ == 0 || threads <= cores || settings_.native ||
      settings_.compute_times.mode != semantics::ComputeMode::kMeasured)
    return;
  notes_.push_back(fmt::format(
      "{} threads compute on {} cores, {} of them without calling MPI (OpenMP?): where the others "
      "of their rank wait for them by spinning, that counts as computing; OMP_WAIT_POLICY=passive, "
      "or OMP_NUM_THREADS=1, keeps it out",
      threads, cores, working_threads_));
}

/// The rank goes on as plain MPI. Without it the others would seem to wait for ever: they become plain MPI as well, as
/// soon as the simulator is gone.
void Node::lose_sight(RankId rank) {
  notes_.push_back(
      fmt::format("rank {} could no longer be observed: its own message on stderr says why; all that came "
                  "later is unknown",
                  rank.value));
  job_over_ = true;
}

/// The next event of a rank, complete in its port.
void Node::take(RankId rank, Port& port) {
  events::Event event = port.assembler.event();
  Rank& r = ranks_[rank.index()];
  if (event.kind == events::EventKind::kNone) {
    r.looks = static_cast<std::uint32_t>(event.aux >> 32U);
    r.moves = static_cast<std::uint32_t>(event.aux);
    return;
  }
  ++events_per_rank_[rank.index()];
  if (event.kind == events::EventKind::kOutcome && event.extension == 0) return lose_sight(rank);
  if (event.kind == events::EventKind::kWarmTime) return take_warm_time(rank, event);
  auto extension = port.assembler.extension();
  if (event.kind == events::EventKind::kFinalize) {
    take_last(r, event);
    extension = take_last_words(rank, event, extension);
  }
  if (!translator_->take(rank, event, extension, definitions_)) return;
  r.last_call = event.call;
  r.last_site = event.site;
  events::Detail detail;
  const events::Detail* told = port.assembler.detail() == nullptr ? nullptr : &detail;
  if (told != nullptr) {
    detail = *port.assembler.detail();
    detail.datatype = translator_->datatype(rank, detail.datatype);
  }
  if (native_) return take_native(rank, event, extension, told);
  if (recorder_) recorder_->pushed(rank, event, Translator::lists(event, extension), told);
  translator_->push(rank, event, extension);
}

/// Events reach the disk within a second; trouble is said once, and the run goes on.
void Node::tick_recording() {
  if (!writer_) return;
  writer_->tick();
  if (recording_trouble_said_) return;
  const auto trouble = writer_->status();
  if (!trouble) return;
  recording_trouble_said_ = true;
  if (!settings_.quiet)
    send_text(RankId{0}, events::AnswerKind::kNotice, true,
              fmt::format(
                  "nplus1: recording has stopped: {}\n  so:   the run goes on, the recording ends here; "
                  "summary and patterns still count everything, if there is room to write them\n  next: {}\n",
                  trouble->what, trouble->remedy));
}

/// Call paths and functions get their names: the programs are still there, and only what was seen is looked
/// up.
void Node::tell_source_lines() {
  for (std::size_t i = 1; i < translator_->call_paths(); ++i)
    definitions_.on_call_path(
        source_lines_.resolve(translator_->call_path(CallSiteId{static_cast<std::uint32_t>(i)})));
  for (const events::Region& region : translator_->address_regions())
    definitions_.on_region({region.id, source_lines_.function_at(region.name)});
}

void Node::finish_recording() {
  if (!engine_) return discard_recording();
  constexpr std::uint64_t kByAccident = 10;  // reads by libraries, a seed
  if (system_clock_reads_ >= kByAccident && !settings_.virtual_clocks && !settings_.native)
    notes_.push_back(
        fmt::format("the program reads the system's clock ({} times) and never MPI_Wtime: the times it "
                    "measures are real ones; with --virtual-clocks they are virtual",
                    system_clock_reads_));
  note_crowded_threads();
  note_departures();
  note_uncounted_ranks();
  if (recorder_) recorder_->finish();
  if (settings_.record != Record::kOff) tell_source_lines();
  if (!writer_) return;
  writer_->set_property("transport", transport_used());
  writer_->set_property("clock", clock_used());
  if (!warm_times_.empty()) writer_->set_property("warm-times", warm_times_);
  if (ranks_with_accesses_ > 0) {
    writer_->set_property("accesses", "mprotect");
    writer_->set_property("accesses-cost", access_cost_text());
    note_caught_accesses();
  }
  const auto trouble = writer_->close();
  if (trouble)
    notes_.push_back(fmt::format("The recording is not complete: {}; {}", trouble->what, trouble->remedy));
  if (const Totals totals = writer_->totals(); totals.dropped_events > 0 && !trouble)
    notes_.push_back(
        fmt::format("The recording ends at its size cap: {} of {} events are not in it; see "
                    "--record-cap and --record-region",
                    totals.dropped_events, totals.events + totals.dropped_events));
}

report::Recording Node::recording_summary() const {
  const Totals totals = writer_->totals();
  report::Recording r;
  r.path = kFolder;
  r.bytes = writer_->bytes();
  r.events = totals.events;
  r.dropped = totals.dropped_events;
  r.hashing_s = hashing_s_;
  r.expected_bytes = r.bytes;
  const double each =
      r.events == 0 ? kTypicalEventBytes : static_cast<double>(r.bytes) / static_cast<double>(r.events);
  r.expected_bytes += static_cast<std::uint64_t>(each * static_cast<double>(r.dropped));
  return r;
}

/// No simulation came about.
void Node::discard_recording() {
  if (!writer_) return;
  writer_.reset();
  std::error_code error;
  std::filesystem::remove_all(std::filesystem::path{settings_.output} / kFolder, error);
}

}  // namespace nplus1::simnode::node

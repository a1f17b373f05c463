#include "simnode/node/rank_accounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "events/mpi_call.hpp"

namespace nplus1::simnode::node {
namespace {

void note_uncounted_ranks(const Settings& settings, const JobRanks& ranks, std::vector<std::string>& notes) {
  if (settings.clock != "instructions" || settings.native) return;
  const auto uncounted =
      std::count_if(ranks.begin(), ranks.end(), [](const JobRank& r) { return r.start.counts == 0; });
  if (uncounted == 0) return;
  notes.push_back(fmt::format(
      "The processor's counters could not be read on {} of {} ranks (--clock instructions): their "
      "computing is CPU time, with what the host's caches cost; nplus1 doctor on their hosts says why",
      uncounted, ranks.size()));
}

void note_crowded_ranks(const Settings& settings, const JobRanks& ranks, std::vector<std::string>& notes) {
  const bool measured = settings.compute_times.mode == semantics::ComputeMode::kMeasured &&
                        !settings.compute_times.warm && settings.clock != "instructions";
  const int cores = ranks.cores();
  if (!measured || settings.native || settings.hosts == Door::Hosts::kSeveral ||
      static_cast<int>(ranks.size()) <= cores)
    return;
  notes.push_back(
      fmt::format("{} ranks on {} push each other's data out of the caches, and their measured computing is "
                  "longer by that: "
                  "--compute warm says by how much",
                  ranks.size(), cores == 1 ? "one core" : fmt::format("{} cores", cores)));
}

}  // namespace

std::span<const std::byte> RankAccounts::take_last(RankId rank, events::Event& event,
                                                   std::span<const std::byte> extension) {
  hashing_s_ += 1e-9 * static_cast<double>(event.aux);
  system_clock_reads_ += static_cast<std::uint64_t>(event.size);
  working_threads_ += event.tag;
  event.aux = 0;
  event.size = 0;
  event.tag = 0;
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

void RankAccounts::sum_up(RankId rank, const transport::LastWords& words) {
  if (words.recorded_accesses != 0) ++ranks_with_accesses_;
  transport::LastWords& all = words_;
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

/// One line each (docs/formats/clock.md): rank, place in its stream of the event behind the computing, picoseconds, whether that
/// is rough; how fast the twin's core was, and the rank's own; and pages that were touched for the first time, if there are any.
void RankAccounts::take_warm_time(RankId rank, const events::Event& event,
                                  std::span<const std::byte> extension) {
  constexpr std::size_t kSpeeds = 4, kFaults = kSpeeds;
  std::int64_t words[kSpeeds + 2] = {};
  std::memcpy(words, extension.data(), std::min(extension.size(), sizeof words));
  const std::span told{words, words[kFaults] > 0 ? std::size(words) : kSpeeds};
  fmt::format_to(std::back_inserter(warm_times_), "{} {} {} {} {}\n", rank.value, event.aux, event.compute_ps,
                 event.size, fmt::join(told, " "));
}

std::string RankAccounts::access_cost_text(const Settings& settings) const {
  const auto& w = words_;
  const auto seconds = [](std::uint64_t ns) { return 1e-9 * static_cast<double>(ns); };
  return fmt::format(
      "{} faults ({:.3f} s of CPU time), {} single steps ({:.3f} s), {} changes of protection ({:.3f} s), {} "
      "system calls ({:.3f} s), taken out of the program's clock; {} times a page was left open because what "
      "lies beside the messages is used all the time{}",
      w.faults, seconds(w.fault_ns), w.steps, seconds(w.step_ns), w.protects, seconds(w.protect_ns),
      w.system_calls, seconds(w.system_call_ns), w.left_open,
      settings.compute_times.mode == semantics::ComputeMode::kMeasured
          ? "; some 10 us of each fault and step may remain in the measured computing, so that only given "
            "compute times (--compute recorded:, fixed: or file:) make shares that hold"
          : "");
}

void RankAccounts::note(const Settings& settings, const JobRanks& ranks,
                        std::vector<std::string>& notes) const {
  note_clock_reads(settings, notes);
  note_crowded_threads(settings, ranks, notes);
  note_departures(settings, ranks.size(), notes);
  note_uncounted_ranks(settings, ranks, notes);
  note_crowded_ranks(settings, ranks, notes);
}

void RankAccounts::note_clock_reads(const Settings& settings, Notes& notes) const {
  constexpr std::uint64_t kByAccident = 10;  // reads by libraries, a seed
  if (system_clock_reads_ < kByAccident || settings.virtual_clocks || settings.native) return;
  notes.push_back(
      fmt::format("the program reads the system's clock ({} times) and never MPI_Wtime: the times it "
                  "measures are real ones; with --virtual-clocks they are virtual",
                  system_clock_reads_));
}

/// What the processor does after a page was closed lies outside of the handlers, and nothing measures it: some 10 to
/// 35 us a fault and 10 us a single step in a virtual machine (docs/accesses.md).
void RankAccounts::note_caught_accesses(const Settings& settings, std::size_t ranks,
                                        const std::string& application, Notes& notes) const {
  const std::uint64_t caught = words_.faults + words_.steps;
  if (caught == 0 || settings.compute_times.mode != semantics::ComputeMode::kMeasured) return;
  const std::string run = fmt::format("nplus1 run -n {}", ranks);
  notes.push_back(fmt::format(
      "{} accesses to the memory of messages were caught, each of which may leave some 10 us in the measured "
      "computing. For times and shares that hold, take the computing from a run without it: {} -o plain -- "
      "{} "
      "...; {} --record-accesses --compute recorded:plain -- {} ... (with the other options of this run)",
      caught, run, application, run, application));
}

/// The calls are not those of the recording that gives the compute times.
void RankAccounts::note_departures(const Settings& settings, std::size_t ranks, Notes& notes) const {
  if (departed_ranks_ == 0) return;
  const auto function = [](std::uint16_t call) {
    return call == 0 ? std::string{"no further call"}
                     : std::string{events::name(static_cast<events::MpiCall>(call))};
  };
  const auto& w = words_;
  notes.push_back(fmt::format(
      "{} of {} ranks did not make the calls of {}, which was to give the compute times: rank {}{} called {} "
      "where it has {}, after {} calls; from there on the compute times of such ranks are measured",
      departed_ranks_, ranks, settings.compute_times.table, departed_.value,
      w.departed_thread == 0 ? "" : fmt::format(", thread {},", w.departed_thread), function(w.found),
      function(w.expected), w.followed));
}

/// A thread that spins until the others of its rank get a core seems to compute.
void RankAccounts::note_crowded_threads(const Settings& settings, const JobRanks& ranks, Notes& notes) const {
  const int threads = working_threads_ + static_cast<int>(ranks.size());
  const int cores = ranks.cores();
  if (working_threads_ == 0 || threads <= cores || settings.native ||
      settings.compute_times.mode != semantics::ComputeMode::kMeasured)
    return;
  notes.push_back(fmt::format(
      "{} threads compute on {} cores, {} of them without calling MPI (OpenMP?): where the others "
      "of their rank wait for them by spinning, that counts as computing; OMP_WAIT_POLICY=passive, "
      "or OMP_NUM_THREADS=1, keeps it out",
      threads, cores, working_threads_));
}

}  // namespace nplus1::simnode::node

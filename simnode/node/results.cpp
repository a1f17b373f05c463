#include "simnode/node/results.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "patterns/result_folder.hpp"

namespace nplus1::simnode::node {

void Results::finish_recording(Simulation* simulation) {
  if (simulation == nullptr) return recording_.discard();
  accounts_.note(settings_, ranks_, notes_);
  simulation->tell_names();
  if (!recording_.is_on()) return;
  events::recording::Writer& writer = *recording_.writer();
  writer.set_property("transport", ranks_.transport_used());
  writer.set_property("clock", clock_used(settings_, ranks_));
  if (!accounts_.warm_times().empty()) writer.set_property("warm-times", accounts_.warm_times());
  if (accounts_.has_accesses()) {
    writer.set_property("accesses", "mprotect");
    writer.set_property("accesses-cost", accounts_.access_cost_text(settings_));
    accounts_.note_caught_accesses(settings_, ranks_.size(), acceptor_.application(), notes_);
  }
  recording_.close();
}

std::string Results::network_name() const {
  return settings_.native ? "none: recorded natively" : acceptor_.network()->describe();
}

report::RunSummary Results::summary(Simulation& simulation) const {
  report::RunSummary s;
  simulation.observers().statistics().fill(s);
  s.application = acceptor_.application();
  s.wall_time_s = simulation.wall_time_s();
  s.network = network_name();
  if (!settings_.native) s.storage = settings_.storage.describe();
  const int processes = static_cast<int>(ranks_.size()) + 1;
  const int cores = ranks_.cores();
  s.clock = clock_used(settings_, ranks_);
  s.clock_reason = settings_.native            ? "recorded natively"
                   : settings_.clock != "auto" ? "asked for"
                   : settings_.config().twins != 0
                       ? "--compute warm"
                       : fmt::format("{} processes on {} cores", processes, cores);
  s.compute = settings_.compute;
  s.protocol = settings_.protocol;
  s.transport = ranks_.transport_used();
  s.direct = ranks_.begin()->start.direct != 0;
  s.late_clocks = ranks_.begin()->start.late_clocks != 0;
  const engine::Counters counters = simulation.engine().counters();
  for (const JobRank& rank : ranks_) s.trust.active_ranks += rank.events > 0 ? 1 : 0;
  s.trust.events = simulation.events();
  s.trust.clock_mismatches = counters.clock_mismatches;
  s.trust.order_inversions = counters.order_inversions;
  s.trust.forced_decisions = counters.forced_decisions;
  s.trust.relies_on_buffering = counters.relies_on_buffering > 0;
  s.trust.cores = static_cast<std::uint32_t>(cores);
  s.complete = ranks_.all_have_finalized();
  if (recording_.is_on()) s.recording = recording_.summary(accounts_.hashing_s());
  s.notes = notes_;
  if (counters.forced_decisions > 0) note_first_withdrawn(simulation, s.notes);
  if (const std::string refused = acceptor_.refused(); !refused.empty()) s.notes.push_back(refused);
  return s;
}

/// What a user has to look at when decisions had to be forced.
void Results::note_first_withdrawn(const Simulation& simulation, std::vector<std::string>& notes) const {
  const auto& first = simulation.first_withdrawn();
  if (!first) return;
  notes.push_back(fmt::format(
      "the first decision without proof was one without rank {}{}, after {} ms in which it stood still {}: "
      "{}",
      first->rank.value,
      ranks_[first->rank].several_threads() ? fmt::format(", thread {}", first->thread.value) : "",
      first->waited.count(), first->inside_mpi ? "inside the MPI library" : "between two MPI calls",
      first->inside_mpi
          ? "it may have waited there for a rank that the simulator kept waiting"
          : "it may have waited for another rank or thread in a way that is not seen (a file, a signal, "
            "a lock, shared memory, the end of OpenMP's parallel region)"));
}

Outcome Results::write(Simulation* simulation) {
  if (ranks_.empty() && !settings_.output.empty())
    leave_trouble(settings_.output,
                  {"nothing was observed: no process of the job called MPI_Init or MPI_Init_thread",
                   "run an MPI program; one that begins with MPI_Session_init alone is observed with MPICH "
                   "4.0, if the program can call no MPI_Init"});
  if (simulation == nullptr) return Outcome::kNobodyCame;
  if (settings_.output.empty()) return Outcome::kNotWritten;
  const std::filesystem::path folder{settings_.output};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::optional<patterns::Observed> observed;
  if (settings_.record != Record::kOff)
    observed = simulation->observers().observed(acceptor_.application(), network_name(),
                                                simulation->engine().link_usage());
  const auto written = patterns::write_result_folder(folder, summary(*simulation), observed);
  if (!written) leave_trouble(settings_.output, written.error());
  return written ? Outcome::kWritten : Outcome::kNotWritten;
}

}  // namespace nplus1::simnode::node

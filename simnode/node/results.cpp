// What the run came to: the result folder and its contents.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "patterns/result_folder.hpp"
#include "simnode/node/node.hpp"

namespace nplus1::simnode::node {

std::string Node::program_of(std::int32_t pid) {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error);
  return error ? std::string{"app"} : path.filename().string();
}

/// nplus1-APP-N-K with the first K that is free; made here, so that nobody else takes it.
std::string Node::choose_output(std::int32_t pid) const {
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  for (int k = 1; k < 100000; ++k) {
    const auto folder = here / fmt::format("nplus1-{}-{}-{}", program_of(pid), ranks_.size(), k);
    if (mkdir(folder.c_str(), 0777) == 0) return folder.string();
    if (errno != EEXIST) break;
  }
  return {};
}

std::string Node::transport_used() const {
  const auto shared =
      std::count_if(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.start.shared_memory != 0; });
  if (shared == 0) return "tcp";
  return static_cast<std::size_t>(shared) == ranks_.size() ? "shm" : "shm+tcp";
}

std::string Node::network_name() const {
  return settings_.native ? "none: recorded natively" : network_->describe();
}

report::RunSummary Node::summary() const {
  report::RunSummary s;
  observers_->statistics().fill(s);
  s.application = application_;
  s.wall_time_s = wall_time_s_;
  s.network = network_name();
  if (!settings_.native) s.storage = settings_.storage.describe();
  const int processes = static_cast<int>(ranks_.size()) + 1;
  const int cores = ranks_.front().start.cores;
  s.clock = clock_used();
  s.clock_reason = settings_.native            ? "recorded natively"
                   : settings_.clock != "auto" ? "asked for"
                   : settings_.config().twins != 0
                       ? "--compute warm"
                       : fmt::format("{} processes on {} cores", processes, cores);
  s.compute = settings_.compute;
  s.protocol = settings_.protocol;
  s.transport = transport_used();
  s.direct = ranks_.front().start.direct != 0;
  const engine::Counters counters = engine_->counters();
  for (const std::uint64_t n : events_per_rank_) s.trust.active_ranks += n > 0 ? 1 : 0;
  s.trust.events = native_ ? native_->events() : counters.events;
  s.trust.clock_mismatches = counters.clock_mismatches;
  s.trust.order_inversions = counters.order_inversions;
  s.trust.forced_decisions = counters.forced_decisions;
  s.trust.relies_on_buffering = counters.relies_on_buffering > 0;
  s.trust.cores = static_cast<std::uint32_t>(cores);
  s.complete = std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.finalized; });
  if (writer_) s.recording = recording_summary();
  s.notes = notes_;
  if (counters.forced_decisions > 0) note_first_withdrawn(s.notes);
  if (const std::string refused = door_->refused(); !refused.empty()) s.notes.push_back(refused);
  return s;
}

/// What a user has to look at when decisions had to be forced.
void Node::note_first_withdrawn(std::vector<std::string>& notes) const {
  const auto& first = watch_->first_withdrawn();
  if (!first) return;
  notes.push_back(fmt::format(
      "the first decision without proof was one without rank {}{}, after {} ms in which it stood still {}: "
      "{}",
      first->rank.value,
      ranks_[first->rank.index()].several_threads() ? fmt::format(", thread {}", first->thread.value) : "",
      first->waited.count(), first->inside_mpi ? "inside the MPI library" : "between two MPI calls",
      first->inside_mpi
          ? "it may have waited there for a rank that the simulator kept waiting"
          : "it may have waited for another rank or thread in a way that is not seen (a file, a signal, "
            "a lock, shared memory)"));
}

void leave_trouble(const std::string& folder, const Error& error) {
  std::FILE* file = std::fopen((folder + "/error.txt").c_str(), "w");
  if (file == nullptr) return;
  fmt::print(file, "{}\n{}\n", error.what, error.remedy);
  std::fclose(file);
}

Outcome Node::write_results() {
  if (ranks_.empty() && !settings_.output.empty())
    leave_trouble(settings_.output,
                  {"nothing was observed: no process of the job called MPI_Init or MPI_Init_thread",
                   "run an MPI program; one that begins with MPI_Session_init alone is not observed"});
  if (!engine_) return Outcome::kNobodyCame;
  if (settings_.output.empty()) return Outcome::kNotWritten;
  const std::filesystem::path folder{settings_.output};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::optional<patterns::Observed> observed;
  if (settings_.record != Record::kOff)
    observed = observers_->observed(application_, network_name(), engine_->link_usage());
  const auto written = patterns::write_result_folder(folder, summary(), observed);
  if (!written) leave_trouble(settings_.output, written.error());
  return written ? Outcome::kWritten : Outcome::kNotWritten;
}

}  // namespace nplus1::simnode::node

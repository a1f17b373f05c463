#include "simnode/node/job_ranks.hpp"

#include <algorithm>

namespace nplus1::simnode::node {

void JobRanks::let_go(JobRank& rank) {
  if (rank.socket >= 0) poll_.close(rank.socket);
  rank.socket = -1;
  rank.gone = true;
}

void JobRanks::let_all_go() {
  for (JobRank& rank : ranks_)
    if (!rank.gone) let_go(rank);
}

bool JobRanks::have_input() const {
  return std::any_of(begin(), end(),
                     [](const JobRank& r) { return r.port && !r.gone && r.port->has_input(); });
}

bool JobRanks::flush() {
  bool any = false;
  for (JobRank& r : ranks_) {
    if (!r.port || !r.port->has_output() || r.gone) continue;
    r.port->flush();
    any = true;
  }
  return any;
}

void JobRanks::send(RankId rank, const events::Answer& answer, std::span<const std::byte> extension) {
  if (Port* port = (*this)[rank].port.get()) port->send(answer, extension);
}

void JobRanks::send_text(RankId rank, events::AnswerKind kind, bool flag, const std::string& text) {
  events::Answer answer;
  answer.kind = kind;
  answer.flag = flag ? 1 : 0;
  answer.aux = text.size();
  send(rank, answer, std::as_bytes(std::span{text.c_str(), text.size() + 1}));
}

bool JobRanks::somebody_asks() const {
  return std::any_of(begin(), end(), [](const JobRank& r) { return r.asked > 0; });
}

bool JobRanks::one_has_died() const {
  return std::any_of(begin(), end(), [](const JobRank& r) { return r.gone && !r.finalized; });
}

bool JobRanks::may_have_several_threads() const {
  return std::any_of(begin(), end(), [](const JobRank& r) { return !r.gone && r.several_threads(); });
}

bool JobRanks::all_are_ending() const {
  return std::all_of(begin(), end(), [](const JobRank& r) { return r.ending && !r.gone; });
}

bool JobRanks::all_have_finalized() const {
  return std::all_of(begin(), end(), [](const JobRank& r) { return r.finalized; });
}

std::string JobRanks::transport_used() const {
  const auto shared =
      std::count_if(begin(), end(), [](const JobRank& r) { return r.start.shared_memory != 0; });
  if (shared == 0) return "tcp";
  return static_cast<std::size_t>(shared) == size() ? "shm" : "shm+tcp";
}

bool uses_wall_clock(const Settings& settings, const JobRanks& ranks) {
  if (settings.native) return true;
  if (settings.clock != "auto") return settings.clock == "wall";
  if (settings.config().twins != 0) return false;
  return !ranks.empty() && static_cast<int>(ranks.size()) + 1 <= ranks.cores();
}

const char* clock_used(const Settings& settings, const JobRanks& ranks) {
  if (uses_wall_clock(settings, ranks)) return "wall";
  return settings.clock == "instructions" ? "instructions" : "cpu";
}

}  // namespace nplus1::simnode::node

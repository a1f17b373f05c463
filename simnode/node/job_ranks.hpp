// The ranks of the job, as the simulator knows them: their lines, what they have said of themselves, how far they are.
// Of one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "events/event.hpp"
#include "simnode/node/poll.hpp"
#include "simnode/node/port.hpp"
#include "simnode/node/settings.hpp"
#include "stubs/transport/handshake.hpp"
#include "support/ids.hpp"

namespace nplus1::simnode::node {

struct JobRank {
  int socket = -1;
  std::unique_ptr<Port> port;
  transport::Start start;
  std::size_t start_bytes = 0;  // so many of `start` have come
  std::int32_t pid = 0;
  bool started = false;
  bool gone = false;
  bool finalized = false;
  bool ending = false;          // without MPI_Finalize
  std::uint64_t events = 0;     // so far
  std::int64_t asked = 0;       // events to which it has no answer yet
  std::uint16_t last_call = 0;  // and where it was made: of its last event
  CallSiteId last_site{};
  std::uint32_t looks = 0, moves = 0;  // of its host, where that is another (transport::shown_looks)

  /// Several of its threads may call MPI.
  [[nodiscard]] bool several_threads() const {
    constexpr int kSerialized = 2;  // MPI_THREAD_SERIALIZED (MPICH's values)
    return start.threads_provided >= kSerialized;
  }
};

class JobRanks {
 public:
  explicit JobRanks(Poll& poll) : poll_{poll} {}

  /// So many are to come.
  void expect(int ranks) { ranks_.resize(static_cast<std::size_t>(ranks)); }
  [[nodiscard]] bool empty() const { return ranks_.empty(); }
  [[nodiscard]] std::size_t size() const { return ranks_.size(); }
  [[nodiscard]] JobRank& operator[](RankId rank) { return ranks_[rank.index()]; }
  [[nodiscard]] const JobRank& operator[](RankId rank) const { return ranks_[rank.index()]; }
  [[nodiscard]] auto begin() { return ranks_.begin(); }
  [[nodiscard]] auto end() { return ranks_.end(); }
  [[nodiscard]] auto begin() const { return ranks_.begin(); }
  [[nodiscard]] auto end() const { return ranks_.end(); }
  [[nodiscard]] RankId id_of(const JobRank& rank) const {
    return RankId{static_cast<std::int32_t>(&rank - ranks_.data())};
  }

  /// Its line is closed: it goes on as plain MPI, or has ended.
  void let_go(JobRank& rank);
  void let_all_go();
  [[nodiscard]] bool have_input() const;
  /// Sends what there is for them; whether there was something.
  bool flush();
  void send(RankId rank, const events::Answer& answer, std::span<const std::byte> extension);
  void send_text(RankId rank, events::AnswerKind kind, bool flag, const std::string& text);

  /// A rank sleeps until it has an answer.
  [[nodiscard]] bool somebody_asks() const;
  /// Who has died leaves others waiting, and mpirun ends the job.
  [[nodiscard]] bool one_has_died() const;
  [[nodiscard]] bool may_have_several_threads() const;
  [[nodiscard]] bool all_are_ending() const;
  [[nodiscard]] bool all_have_finalized() const;
  /// shm, tcp or shm+tcp.
  [[nodiscard]] std::string transport_used() const;
  /// Of the host with the fewest.
  [[nodiscard]] int cores() const { return ranks_.front().start.cores; }

 private:
  Poll& poll_;
  std::vector<JobRank> ranks_;
};

/// What compute times are measured with.
[[nodiscard]] bool uses_wall_clock(const Settings& settings, const JobRanks& ranks);
/// As results and recordings name it.
[[nodiscard]] const char* clock_used(const Settings& settings, const JobRanks& ranks);

}  // namespace nplus1::simnode::node

// The kinds of steps, and how a script goes through them.
#include <nplus1.h>

#include <algorithm>
#include <cmath>

#include "tests/random_programs/script.hpp"

namespace random_programs {
namespace {

/// What a kind asks for: of the options, and of the thread that performs it.
enum Needs { kNothing = 0, kOwnCommunicator = 1, kOneThread = 2, kErrors = 4, kThreads = 8, kOneSided = 16 };

struct Kind {
  const char* name;
  int weight;
  void (*step)(Script&);
  int needs;
};

void compute_step(Script& s) {
  const int who = s.random.below(s.size);
  if (s.rank == who || s.own.chance(30)) nplus1_compute(s.own.below(20000) * 1e-8);
}

void time_step(Script& s) {
  const double now = MPI_Wtime();
  s.check(MPI_Wtime() >= now, "the time goes back");
  s.note_order(static_cast<std::uint64_t>(std::llround(now * 1e12)));
}

void region_step(Script& s) {
  nplus1_region_begin("part");
  compute_step(s);
  nplus1_region_end("part");
}

const Kind kKinds[] = {
    {"message", 30, message_step, kNothing},
    {"answer", 12, [](Script& s) { answer_step(s, false); }, kNothing},
    {"complete", 12, [](Script& s) { complete_step(s, false); }, kNothing},
    {"exchange", 6, exchange_step, kNothing},
    {"ready", 3, ready_step, kNothing},
    {"persistent", 5, persistent_step, kNothing},
    {"nobody", 3, nobody_step, kNothing},
    {"cancel", 3, cancel_step, kNothing},
    {"free", 3, free_step, kNothing},
    {"fan_in", 5, fan_in_step, kNothing},
    {"pending_fan_in", 5, pending_fan_in_step, kNothing},
    {"master_worker", 3, master_worker_step, kNothing},
    {"collective", 25, collective_step, kOwnCommunicator},
    {"communicator", 10, communicator_step, kOwnCommunicator},
    {"free_communicator", 4, [](Script& s) { free_communicator_step(s, false); }, kOwnCommunicator},
    {"compute", 12, compute_step, kNothing},
    {"time", 2, time_step, kNothing},
    {"region", 2, region_step, kOneThread},
    {"refused", 8, refused_step, kErrors | kOneThread},
    {"truncated", 6, truncated_step, kErrors | kOneThread},
    {"threads", 30, threads_step, kThreads | kOneThread},
    {"one_sided", 30, one_sided_step, kOneSided | kOneThread},
};

bool allowed(const Script& s, const Kind& k) {
  const int missing = (s.shares_communicator ? kOwnCommunicator : 0) | (s.in_thread ? kOneThread : 0) |
                      (s.options.errors ? 0 : kErrors) | (s.options.threads ? 0 : kThreads) |
                      (s.options.one_sided ? 0 : kOneSided);
  const auto& names = s.options.kinds;
  const bool wanted =
      names.empty() || s.in_thread || std::find(names.begin(), names.end(), k.name) != names.end();
  return wanted && (k.needs & missing) == 0;
}

const Kind& random_kind(Script& s) {
  int sum = 0;
  for (const Kind& k : kKinds) sum += allowed(s, k) ? k.weight : 0;
  int left = s.random.below(std::max(sum, 1));
  for (const Kind& k : kKinds) {
    if (!allowed(s, k)) continue;
    if (left < k.weight) return k;
    left -= k.weight;
  }
  return kKinds[0];
}

}  // namespace

void perform(Script& s, const Communicator& world, const std::function<void()>& between) {
  s.communicators.push_back(world);
  const auto begin = [&](int step) {
    s.step = step;
    const std::uint64_t of_step = mix(s.options.seed, static_cast<std::uint64_t>(step));
    s.random = Random{of_step};
    s.own = Random{mix(of_step, static_cast<std::uint64_t>(s.rank) + 99)};
    between();
  };
  for (int step = 0; step < s.options.steps; ++step) {
    if (static_cast<std::size_t>(step) < s.options.skipped.size() &&
        s.options.skipped[static_cast<std::size_t>(step)])
      continue;
    begin(step);
    const Kind& kind = random_kind(s);
    if (s.options.trace)
      std::fprintf(stderr, "rank %d: %sstep %d, %s\n", s.rank, s.in_thread ? "in a thread, " : "", step,
                   kind.name);
    kind.step(s);
  }
  begin(s.options.steps);
  if (s.options.trace)
    std::fprintf(stderr, "rank %d: %sthe end\n", s.rank, s.in_thread ? "in a thread, " : "");
  answer_step(s, true);
  complete_step(s, true);
  free_communicator_step(s, true);
}

}  // namespace random_programs

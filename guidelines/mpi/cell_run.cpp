#include "guidelines/mpi/cell_run.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <functional>

#include "guidelines/mpi/own_mock_up.hpp"

namespace nplus1::guidelines {
namespace {

constexpr int kBlocksAtOnce = 10;  // between looks at the clock and at missed windows
constexpr int kMostAttempts = 4;   // times the repetitions asked for, if windows are missed

/// "Scan" of "Scan_with_Exscan_Reduce_local".
std::string original_of(const std::string& function) {
  return function.substr(0, function.find("_with_"));
}

/// Ours or a user's; empty if there is none of that name.
AnyRun mock_up_of(const std::string& name) {
  if (const MockUp* mock_up = find_mock_up(name)) return mock_up->run;
  return find_own_mock_up(name);
}

Case case_of(const TimedTest& test) {
  Case c;
  c.count = static_cast<int>(test.size);
  return c;
}

Subject subject_of(const TimedTest& test) {
  const Operation* operation = find_operation(original_of(test.function));
  const bool is_mock_up = test.function != operation->name;
  return {&test,      operation, is_mock_up ? mock_up_of(test.function) : AnyRun{operation->run},
          is_mock_up, nullptr,   std::make_shared<Scratch>()};
}

/// What keeps a test from being measured; empty if nothing does.
const char* obstacle(const TimedTest& test, int ranks) {
  const bool is_mock_up = original_of(test.function) != test.function;
  if (find_operation(original_of(test.function)) == nullptr)
    return "the measuring program has no such function";
  if (is_mock_up && !mock_up_of(test.function))
    return "neither the measuring program nor a preloaded library has this mock-up";
  if (test.size > static_cast<std::uint64_t>(INT_MAX / ranks))
    return "larger than INT_MAX bytes for all ranks";
  return nullptr;
}

}  // namespace

double Subject::operator()() const {
  for (int i = 0; i < test->calls; ++i) run(buffers->call(), *scratch);
  return scratch->take_copy_time();
}

CellRun::CellRun(const Plan& plan, const Cell& cell, double limit, MPI_Comm comm)
    : plan_{plan},
      cell_{cell},
      limit_{limit},
      comm_{comm},
      begin_{MPI_Wtime()},
      order_{static_cast<unsigned>(std::hash<std::string>{}(cell.original) + 31 * cell.size) +
             977U * static_cast<unsigned>(plan.mpirun)} {
  int ranks = 0;
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks);
  for (const TimedTest& test : cell.tests) {
    if (const char* why = obstacle(test, ranks); why != nullptr) {
      if (rank_ == 0) std::printf("@skipped %s %llu %s\n", test.name.c_str(), 0ULL + test.size, why);
      continue;
    }
    Subject subject = subject_of(test);
    for (const Subject& other : subjects_) {  // one set of buffers, so that all find them alike in the caches
      if (other.test->size == test.size) subject.buffers = other.buffers;
    }
    if (!subject.buffers)
      subject.buffers = std::make_shared<Buffers>(*subject.operation, case_of(test), comm);
    subjects_.push_back(std::move(subject));
  }
}

void CellRun::verify() {
  std::erase_if(subjects_, [&](const Subject& subject) {
    if (rank_ == 0) {
      std::printf("@verify %s %llu\n", subject.test->name.c_str(), 0ULL + subject.test->size);
      std::fflush(stdout);
    }
    const std::string what = difference(*subject.operation, subject.run, case_of(*subject.test), comm_);
    if (!what.empty() && rank_ == 0)
      std::printf("@differs %s %llu %s\n", subject.test->name.c_str(), 0ULL + subject.test->size,
                  what.c_str());
    return !what.empty();
  });
  for (const Subject& subject : subjects_) (void)subject();  // allocates the scratch
  begin_ = MPI_Wtime();
}

bool CellRun::time_is_up() const {
  int up = MPI_Wtime() - begin_ > limit_ ? 1 : 0;
  MPI_Bcast(&up, 1, MPI_INT, 0, comm_);
  return up != 0;
}

void CellRun::predict(const Subject& subject, int prediction, Stopwatch& stopwatch) const {
  std::vector<double> seconds;
  for (const int length : batches(plan_.criteria)) {
    std::vector<Lap> laps;
    stopwatch.prepare();
    while (static_cast<int>(seconds.size() + laps.size()) < length)
      laps.push_back(stopwatch.time(std::cref(subject)));
    for (const Times& t : stopwatch.reduce(laps)) seconds.push_back(t.seconds);
    const Metrics metrics = metrics_of(seconds, plan_.criteria);
    int stop = enough(seconds, metrics, plan_.criteria) ? 1 : 0;
    MPI_Bcast(&stop, 1, MPI_INT, 0, comm_);
    const bool late = time_is_up();
    if (rank_ == 0) {
      double sum = 0;
      for (const double s : seconds) sum += s;
      std::printf("@nrep %s %llu %d %d %.6g %.6g %.6g %.9g %d\n", subject.test->name.c_str(),
                  0ULL + subject.test->size, prediction, length, metrics.rse.value_or(-1),
                  metrics.cov_mean.value_or(-1), metrics.cov_median.value_or(-1), sum / length, stop);
    }
    if (stop || late) return;
  }
}

void CellRun::predict(Stopwatch& stopwatch) const {
  for (int prediction = 0; prediction < plan_.predictions; ++prediction) {
    for (const Subject& subject : subjects_) predict(subject, prediction, stopwatch);
  }
}

/// Laps of each subject.
std::vector<std::vector<Lap>> CellRun::blocks(Stopwatch& stopwatch, int blocks) {
  std::vector<std::vector<Lap>> laps(subjects_.size());
  std::vector<std::size_t> order(subjects_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  stopwatch.prepare();
  for (int block = 0; block < blocks; ++block) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[order_() % i]);
    for (const std::size_t i : order) laps[i].push_back(stopwatch.time(std::cref(subjects_[i])));
  }
  return laps;
}

void CellRun::print(const Subject& subject, const std::vector<Times>& times, int first_index) const {
  for (std::size_t i = 0; i < times.size(); ++i) {
    const int index = first_index + static_cast<int>(i);
    if (!times[i].valid)
      std::printf("@late %s %llu %d\n", subject.test->name.c_str(), 0ULL + cell_.size, index);
    else if (subject.is_mock_up)
      std::printf("@time %s %llu %d %.9g %.9g\n", subject.test->name.c_str(), 0ULL + cell_.size, index,
                  times[i].seconds, times[i].without_copies);
    else
      std::printf("@time %s %llu %d %.9g\n", subject.test->name.c_str(), 0ULL + cell_.size, index,
                  times[i].seconds);
  }
}

void CellRun::measure(Stopwatch& stopwatch) {
  int done = 0, missing = cell_.repetitions;
  while (missing > 0 && done < kMostAttempts * cell_.repetitions && !(done > 0 && time_is_up())) {
    const int now = std::min(missing, kBlocksAtOnce);
    const auto laps = blocks(stopwatch, now);
    int missed = 0;
    for (std::size_t i = 0; i < subjects_.size(); ++i) {
      const auto times = stopwatch.reduce(laps[i]);
      if (rank_ == 0) print(subjects_[i], times, done);
      missed = std::max(missed, static_cast<int>(std::count_if(times.begin(), times.end(),
                                                               [](const Times& t) { return !t.valid; })));
    }
    MPI_Bcast(&missed, 1, MPI_INT, 0, comm_);
    if (2 * missed > now) stopwatch.give_more_notice();
    done += now;
    missing -= now - missed;
  }
}

}  // namespace nplus1::guidelines

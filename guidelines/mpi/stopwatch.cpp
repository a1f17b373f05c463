#include "guidelines/mpi/stopwatch.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace nplus1::guidelines {
namespace {

constexpr int kAnnouncements = 20;
constexpr double kSlack = 3;          // times the slowest announcement
constexpr double kLeastSlack = 2e-5;  // seconds
constexpr double kLookEvery = 0.05;   // seconds

/// The slowest of some broadcasts, on all ranks.
double announcement_time(MPI_Comm comm) {
  double slowest = 0;
  for (int i = 0; i < kAnnouncements; ++i) {
    MPI_Barrier(comm);
    const double begin = MPI_Wtime();
    double value = begin;
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, comm);
    if (i > 0) slowest = std::max(slowest, MPI_Wtime() - begin);
  }
  MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
  return slowest;
}

std::vector<double> reduced(std::vector<double> values, MPI_Op op, MPI_Comm comm) {
  std::vector<double> result(values.size());
  MPI_Reduce(values.data(), result.data(), static_cast<int>(values.size()), MPI_DOUBLE, op, 0, comm);
  return result;
}

}  // namespace

Stopwatch::Stopwatch(const Plan& plan, MPI_Comm comm)
    : comm_{comm},
      sync_{plan.virtual_clock ? Sync::kRoundTime : plan.sync},
      virtual_clock_{plan.virtual_clock},
      shared_clock_{sync_ != Sync::kBarrier},
      window_{plan.window} {
  if (sync_ == Sync::kBarrier) return;
  if (!plan.virtual_clock) clock_.emplace(comm);  // virtual time is one time
  looked_ = MPI_Wtime();
  slack_ = std::max(kLeastSlack, kSlack * announcement_time(comm));
}

void Stopwatch::prepare() {
  if (sync_ == Sync::kBarrier) return;
  int stale = clock_ && MPI_Wtime() - looked_ > kLookEvery ? 1 : 0;
  MPI_Bcast(&stale, 1, MPI_INT, 0, comm_);
  if (stale != 0) {
    clock_->look_again();
    looked_ = MPI_Wtime();
  }
  next_ = now() + slack_ + window_;
  MPI_Bcast(&next_, 1, MPI_DOUBLE, 0, comm_);
}

int Stopwatch::wait_until(double start) const {
  const double left = start - now();
  if (virtual_clock_ && left > 0) std::this_thread::sleep_for(std::chrono::duration<double>{left});
  while (now() < start) {
  }
  return left >= 0 ? 1 : 0;
}

int Stopwatch::start() {
  if (sync_ == Sync::kBarrier) {
    MPI_Barrier(comm_);
    return 1;
  }
  if (sync_ == Sync::kWindow) {
    const double start = next_;
    next_ += window_;
    return wait_until(start);
  }
  double start = now() + slack_;
  MPI_Bcast(&start, 1, MPI_DOUBLE, 0, comm_);
  return wait_until(start);
}

Lap Stopwatch::time(const std::function<double()>& test) {
  Lap lap;
  lap.in_time = start();
  const double begin = MPI_Wtime();
  lap.copying = test();
  const double end = MPI_Wtime();
  lap.begin = shared_clock_ ? global(begin) : 0;
  lap.end = shared_clock_ ? global(end) : end - begin;
  return lap;
}

std::vector<Times> Stopwatch::reduce(const std::vector<Lap>& laps) const {
  std::vector<double> begins, ends, without, valid;
  for (const Lap& lap : laps) {
    begins.push_back(lap.begin);
    ends.push_back(lap.end);
    without.push_back(lap.end - lap.copying);
    valid.push_back(lap.in_time);
  }
  begins = reduced(std::move(begins), MPI_MIN, comm_);
  ends = reduced(std::move(ends), MPI_MAX, comm_);
  without = reduced(std::move(without), MPI_MAX, comm_);
  valid = reduced(std::move(valid), MPI_MIN, comm_);
  std::vector<Times> times;
  for (std::size_t i = 0; i < laps.size(); ++i)
    times.push_back({ends[i] - begins[i], without[i] - begins[i], valid[i] > 0});
  return times;
}

}  // namespace nplus1::guidelines

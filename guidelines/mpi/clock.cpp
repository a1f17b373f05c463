#include "guidelines/mpi/clock.hpp"

namespace nplus1::guidelines {
namespace {

constexpr int kPoints = 10, kRoundTrips = 20, kTag = 17;
constexpr std::size_t kMostPoints = 100;
constexpr double kBetweenPoints = 1e-3;  // seconds, so that a drift shows

/// Rank 0's clock less this one's.
ClockOffset ask(MPI_Comm comm) {
  std::vector<RoundTrip> trips(kRoundTrips);
  for (RoundTrip& trip : trips) {
    trip.sent = MPI_Wtime();
    MPI_Send(nullptr, 0, MPI_BYTE, 0, kTag, comm);
    MPI_Recv(&trip.theirs, 1, MPI_DOUBLE, 0, kTag, comm, MPI_STATUS_IGNORE);
    trip.received = MPI_Wtime();
  }
  return offset_of(trips);
}

void answer(int rank, MPI_Comm comm) {
  for (int i = 0; i < kRoundTrips; ++i) {
    MPI_Recv(nullptr, 0, MPI_BYTE, rank, kTag, comm, MPI_STATUS_IGNORE);
    const double mine = MPI_Wtime();
    MPI_Send(&mine, 1, MPI_DOUBLE, rank, kTag, comm);
  }
}

void pause() {
  for (const double until = MPI_Wtime() + kBetweenPoints; MPI_Wtime() < until;) {
  }
}

}  // namespace

SharedClock::SharedClock(MPI_Comm comm) : comm_{comm} {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  for (int i = 0; i < kPoints; ++i) look(true);
}

void SharedClock::look_again() {
  look(false);
}

void SharedClock::look(bool wait) {
  for (int other = 1; other < ranks_; ++other) {
    if (rank_ == 0) answer(other, comm_);
    if (rank_ != other) continue;
    offsets_.push_back(ask(comm_));
    if (offsets_.size() > kMostPoints) offsets_.erase(offsets_.begin());
    model_ = fit(offsets_);
    if (wait) pause();
  }
}

}  // namespace nplus1::guidelines

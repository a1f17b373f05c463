#include "guidelines/mpi/clock.hpp"

#include <array>
#include <limits>

namespace nplus1::guidelines {
namespace {

constexpr int kPoints = 10, kRoundTrips = 20, kTag = 17;
constexpr double kBetweenPoints = 1e-3;  // seconds, so that a drift shows

struct Point {
  double local, offset;
};

/// Rank 0's clock less this one's, from the shortest of some round trips.
Point ask(MPI_Comm comm) {
  Point best{0, 0};
  double shortest = std::numeric_limits<double>::max();
  for (int i = 0; i < kRoundTrips; ++i) {
    double theirs = 0;
    const double begin = MPI_Wtime();
    MPI_Send(nullptr, 0, MPI_BYTE, 0, kTag, comm);
    MPI_Recv(&theirs, 1, MPI_DOUBLE, 0, kTag, comm, MPI_STATUS_IGNORE);
    const double end = MPI_Wtime();
    if (end - begin >= shortest) continue;
    shortest = end - begin;
    best = {(begin + end) / 2, theirs - (begin + end) / 2};
  }
  return best;
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

/// Least squares.
ClockModel fit(const std::array<Point, kPoints>& points) {
  double t = 0, o = 0, tt = 0, to = 0;
  for (const Point& p : points) t += p.local / kPoints, o += p.offset / kPoints;
  for (const Point& p : points) tt += (p.local - t) * (p.local - t), to += (p.local - t) * (p.offset - o);
  return {o, tt > 0 ? to / tt : 0, t};
}

}  // namespace

ClockModel synchronise_clocks(MPI_Comm comm) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  ClockModel model;
  for (int other = 1; other < ranks; ++other) {
    std::array<Point, kPoints> points{};
    for (Point& point : points) {
      if (rank == 0) answer(other, comm);
      if (rank == other) point = ask(comm), pause();
    }
    if (rank == other) model = fit(points);
  }
  return model;
}

}  // namespace nplus1::guidelines

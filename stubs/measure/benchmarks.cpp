// The paper's benchmarks at the start (section 2.1): what protecting memory costs by size, and what a message takes
// between each two ranks, up to 512 kB. They stand in for chains that are seen too seldom to be measured.
#include <sys/mman.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stubs/measure/measuring.hpp"
#include "stubs/pmpi.hpp"

namespace nplus1::stubs::measure {
namespace {

constexpr std::size_t kProtected[] = {4096, 65536, 524288, 4194304};
constexpr int kSizes[] = {1, 4096, 65536, 524288};
constexpr int kRounds = 10;
/// Pairs meet in rounds, each rank with one other; more rounds than this would hold up large jobs.
constexpr int kMostMeetings = 64;
constexpr double kMostNs = 5e6;  // for one size and pair

/// The median of closing and opening so many bytes.
double protecting_ns(char* memory, std::size_t bytes) {
  double times[kRounds];
  for (double& time : times) {
    for (std::size_t at = 0; at < bytes; at += 4096) memory[at] = 1;  // its pages are there
    const double begin = now_ns();
    mprotect(memory, bytes, PROT_NONE);
    mprotect(memory, bytes, PROT_READ | PROT_WRITE);
    time = now_ns() - begin;
  }
  std::sort(times, times + kRounds);
  return times[kRounds / 2];
}

std::string protecting() {
  std::string text;
  for (const std::size_t bytes : kProtected) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) continue;
    text += "protect " + std::to_string(bytes) + " " +
            std::to_string(protecting_ns(static_cast<char*>(memory), bytes)) + "\n";
    munmap(memory, bytes);
  }
  return text;
}

/// Whom a rank meets in a round, so that all meet each other: the circle method for `n` places, an even number.
int partner_of(int rank, int round, int n) {
  const int circle = n - 1;
  if (rank == circle) return round * (n / 2) % circle;
  const int partner = (round - rank + circle) % circle;
  return partner == rank ? circle : partner;
}

/// The shortest time that a message of so many bytes takes one way. The lower rank says in the first byte whether there
/// is another round.
double message_ns(int partner, bool leads, int bytes, std::vector<char>& memory, MPI_Comm comm) {
  double shortest = 0;
  const double first = now_ns();
  for (int round = 0; round < kRounds; ++round) {
    const double begin = now_ns();
    if (leads) {
      memory[0] = round + 1 < kRounds && begin - first < kMostNs ? 1 : 0;
      const char more = memory[0];
      pmpi::Send(memory.data(), bytes, MPI_BYTE, partner, 0, comm);
      pmpi::Recv(memory.data(), bytes, MPI_BYTE, partner, 0, comm, MPI_STATUS_IGNORE);
      const double half = (now_ns() - begin) / 2;
      if (round > 0) shortest = round == 1 ? half : std::min(shortest, half);
      if (round == 0) shortest = half;
      if (more == 0) break;
    } else {
      pmpi::Recv(memory.data(), bytes, MPI_BYTE, partner, 0, comm, MPI_STATUS_IGNORE);
      pmpi::Send(memory.data(), bytes, MPI_BYTE, partner, 0, comm);
      if (memory[0] == 0) break;
    }
  }
  return shortest;
}

std::string pairs(MPI_Comm comm) {
  int rank = 0, ranks = 1;
  pmpi::Comm_rank(comm, &rank);
  pmpi::Comm_size(comm, &ranks);
  std::string text;
  std::vector<char> memory(static_cast<std::size_t>(kSizes[std::size(kSizes) - 1]));
  const int places = ranks + ranks % 2;
  for (int round = 0; round < std::min(places - 1, kMostMeetings); ++round) {
    const int partner = partner_of(rank, round, places);
    if (partner >= ranks) continue;
    for (const int bytes : kSizes) {
      const double ns = message_ns(partner, rank < partner, bytes, memory, comm);
      if (rank < partner)
        text += "pair " + std::to_string(rank) + " " + std::to_string(partner) + " " + std::to_string(bytes) +
                " " + std::to_string(ns) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string benchmarks(MPI_Comm comm) {
  return protecting() + pairs(comm);
}

}  // namespace nplus1::stubs::measure

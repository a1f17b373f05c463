// nplus1-guidelines-runner: the MPI program that `nplus1 guidelines run` starts R times. Plain MPI and the
// standard library, so that it can be built for any MPI library:
//
//   mpicxx -std=c++20 -O2 -I SOURCE -o nplus1-guidelines-runner SOURCE/guidelines/*.cpp
//          SOURCE/guidelines/mpi/*.cpp SOURCE/guidelines/mpi/mock_ups/*.cpp
//
// with share/nplus1/guidelines-runner for SOURCE. Its argument is a plan (guidelines/plan.hpp). Rank 0
// prints, each line begun with @, sizes in bytes, times in seconds:
//
//   @library TEXT                            MPI_Get_library_version
//   @network BYTES SECONDS BYTES SECONDS     half a round trip between the first and the last rank, twice
//   @verify TEST SIZE                        is being compared with what it must give, if somebody waits for it
//   @differs TEST SIZE TEXT                  and gave another result: not measured
//   @skipped TEST SIZE TEXT                  can't be measured
//   @nrep TEST SIZE PREDICTION N RSE COVMEAN COVMEDIAN MEAN STOP     a look at a series; -1: not evaluable
//   @time TEST SIZE INDEX SECONDS [WITHOUT_COPIES]
//   @late TEST SIZE INDEX                    some rank missed the window: repeated
//   @done ORIGINAL SIZE                      the cell is complete
//   @end
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "guidelines/mpi/cell_run.hpp"
#include "guidelines/order_statistics.hpp"
#include "guidelines/plan.hpp"

namespace {

using namespace nplus1::guidelines;

/// The same text on all ranks; rank 0 reads it. Empty if there is none.
std::string read_everywhere(const char* path, int rank) {
  std::string text;
  if (rank == 0) {
    std::ifstream in{path, std::ios::binary};
    text.assign(std::istreambuf_iterator<char>{in}, {});
  }
  unsigned long size = text.size();
  MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  text.resize(size);
  MPI_Bcast(text.data(), static_cast<int>(size), MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

void print_library() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  std::replace_if(
      version, version + length, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  std::printf("@library %s\n", version);
}

/// The median of half round trips between the first and the last rank, on rank 0.
double half_round_trip(int rank, int last, int bytes) {
  constexpr int kRounds = 21, kTag = 23;
  std::vector<char> buffer(static_cast<std::size_t>(bytes));
  std::vector<double> times;
  for (int i = 0; i < kRounds && (rank == 0 || rank == last); ++i) {
    const double begin = MPI_Wtime();
    if (rank == 0) MPI_Send(buffer.data(), bytes, MPI_BYTE, last, kTag, MPI_COMM_WORLD);
    MPI_Recv(buffer.data(), bytes, MPI_BYTE, rank == 0 ? last : 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Send(buffer.data(), bytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
    times.push_back((MPI_Wtime() - begin) / 2);
  }
  return times.empty() ? 0 : median(times);
}

void print_network(int rank) {
  constexpr int kSmall = 8, kLarge = 65536;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) return;
  const double small = half_round_trip(rank, ranks - 1, kSmall),
               large = half_round_trip(rank, ranks - 1, kLarge);
  if (rank == 0) std::printf("@network %d %.9g %d %.9g\n", kSmall, small, kLarge, large);
}

/// Whether what MPI_Wtime tells here is virtual time: else the times of a plan that asks for it would be this
/// machine's, and look exact.
bool is_simulated() {
  using Active = int (*)();
  const auto active = reinterpret_cast<Active>(dlsym(RTLD_DEFAULT, "nplus1_active"));
  return active != nullptr && active() != 0;
}

bool stop_unless_simulated(const Plan& plan, int rank) {
  if (!plan.virtual_clock) return false;
  int simulated = is_simulated() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &simulated, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (simulated == 0 && rank == 0)
    std::fprintf(stderr,
                 "nplus1-guidelines-runner: no simulator runs: these times would be this machine's\n");
  return simulated == 0;
}

/// False: the simulator is gone.
bool run(const Plan& plan, int rank) {
  constexpr double kPatience = 3;  // times its share of what is left
  const double begin = MPI_Wtime();
  Stopwatch stopwatch{plan, MPI_COMM_WORLD};
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    const Cell& cell = plan.cells[i];
    const double left = std::max(0.0, plan.limit - (MPI_Wtime() - begin));
    const double share = left / static_cast<double>(plan.cells.size() - i);
    CellRun cell_run{plan, cell, std::min(left, kPatience * share), MPI_COMM_WORLD};
    cell_run.verify();
    if (cell.repetitions == 0) {
      cell_run.predict(stopwatch);
    } else {
      cell_run.measure(stopwatch);
    }
    if (stop_unless_simulated(plan, rank)) return false;
    if (rank != 0) continue;
    std::printf("@done %s %llu\n", cell.original.c_str(), 0ULL + cell.size);
    std::fflush(stdout);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string text = argc == 2 ? read_everywhere(argv[1], rank) : "";
  const ParsedPlan parsed = parse_plan(text);
  if (text.empty() || !parsed.fault.empty()) {
    if (rank == 0)
      std::fprintf(stderr, "nplus1-guidelines-runner: the plan %s can't be used: %s\n",
                   argc == 2 ? argv[1] : "", text.empty() ? "it is missing or empty" : parsed.fault.c_str());
    MPI_Finalize();
    return 2;
  }
  static char buffer[1 << 20];  // written cell by cell
  std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  const bool stopped = stop_unless_simulated(parsed.plan, rank);
  if (!stopped && rank == 0) print_library();
  if (!stopped) print_network(rank);
  const bool whole = !stopped && run(parsed.plan, rank);
  if (whole && rank == 0) std::printf("@end\n");
  MPI_Finalize();
  return whole ? 0 : kNotSimulated;
}

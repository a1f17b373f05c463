// In front of the MPI library, linked into the measuring program or preloaded: MPI_Reduce of more than 16 KiB
// takes 5 ms longer, unless the binomial algorithm is asked for. So there is one function to be found, and
// one setting that helps. Below a millisecond the delay is spun: sleeping is not that exact.
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#ifndef PLANTED_US
#define PLANTED_US 5000
#endif

namespace {

void delay(std::chrono::duration<double, std::micro> time) {
  if (time >= std::chrono::milliseconds{1}) return std::this_thread::sleep_for(time);
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
  }
}

}  // namespace

extern "C" int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
                          MPI_Comm comm) {
  const char* algorithm = std::getenv("MPIR_CVAR_REDUCE_INTRA_ALGORITHM");
  const bool good = algorithm != nullptr && std::strcmp(algorithm, "binomial") == 0;
  int size = 0;
  MPI_Type_size(type, &size);
  if (count * size > 16384 && !good) delay(std::chrono::duration<double, std::micro>{PLANTED_US});
  return PMPI_Reduce(send, receive, count, type, op, root, comm);
}

// A preload library for tests: the generated wrappers with handlers that do nothing but count which MPI
// function the application called. Rank 0 prints `probe NAME COUNT` lines on stderr at Finalize.
#include <cstdio>

#include "stubs/guard/guard.hpp"
#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/table/unmodelled.hpp"

namespace nplus1::stubs::handlers {
namespace {

int observed(int code) {
  count_call(current_call());
  return code;
}

void report() {
  int rank = 0;
  pmpi::Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  for (std::size_t i = 1; i < events::kMpiCalls; ++i) {
    const auto call = static_cast<MpiCall>(i);
    if (calls_counted(call) == 0) continue;
    std::fprintf(stderr, "probe %s %llu\n", events::name(call).data(),
                 static_cast<unsigned long long>(calls_counted(call)));
  }
}

}  // namespace

int Init(int* argc, char*** argv) {
  const int code = observed(pmpi::Init(argc, argv));
  set_active(true);
  return code;
}

int Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = observed(pmpi::Init_thread(argc, argv, required, provided));
  set_active(true);
  return code;
}

int Finalize() {
  observed(0);
  report();
  set_active(false);
  return pmpi::Finalize();
}

int Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return observed(pmpi::Send(buf, count, datatype, dest, tag, comm));
}

int Send(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return observed(pmpi::Send(buf, count, datatype, dest, tag, comm));
}

int File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  return observed(pmpi::File_open(comm, filename, amode, info, fh));
}

int File_write_at_all(MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype,
                      MPI_Status* status) {
  return observed(pmpi::File_write_at_all(fh, offset, buf, count, datatype, status));
}

int File_close(MPI_File* fh) {
  return observed(pmpi::File_close(fh));
}

int Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
          MPI_Request* request) {
  return observed(pmpi::Irecv(buf, count, datatype, source, tag, comm, request));
}

int Wait(MPI_Request* request, MPI_Status* status) {
  return observed(pmpi::Wait(request, status));
}

int Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return observed(pmpi::Waitall(count, requests, statuses));
}

int Barrier(MPI_Comm comm) {
  return observed(pmpi::Barrier(comm));
}

int Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm) {
  return observed(pmpi::Allreduce(sendbuf, recvbuf, count, datatype, op, comm));
}

}  // namespace nplus1::stubs::handlers

namespace nplus1::stubs {

UnmodelledScope::UnmodelledScope(MpiCall call) noexcept : call_{call} {
  count_call(call_);
}
UnmodelledScope::~UnmodelledScope() = default;

}  // namespace nplus1::stubs

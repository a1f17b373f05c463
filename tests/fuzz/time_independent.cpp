// Any text as SMPI's time-independent trace.
#include "events/time_independent/time_independent.hpp"

#include "events/definitions_collector.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {

bool run(Input input) {
  const MemoryFile trace{as_text(input)};
  const MemoryFile list{trace.path().string() + "\n"};
  auto importer = events::time_independent::open(list.path());
  if (!importer) return false;
  events::DefinitionsCollector sink;
  return importer.value()->read(sink).ok();
}

std::vector<std::string> seeds() {
  return {
      "0 init\n1 init\n0 compute 1e6\n1 sleep 0.5\n0 send 1 0 1024 6\n1 recv 0 0 1024 6\n0 isend 1 1 8\n1 "
      "irecv 0 1 8\n"
      "1 test 0 1 1\n1 wait 0 1 1\n0 wait 0 1 1\n0 irecv 1 2 -1 0\n1 isend 0 2 4 0\n0 waitall 1\n1 waitall "
      "1\n"
      "0 comm_size 2\n0 location a.c 12\n# a remark\n\n0 finalize\n1 finalize\n",
      "0 init\n1 init\n0 barrier\n1 barrier\n0 bcast 1024 0 6\n1 bcast 1024 0 6\n0 reduce 8 10 1 6\n1 reduce "
      "8 10 1 6\n"
      "0 allreduce 8 10 6\n1 allreduce 8 10 6\n0 alltoall 8 8 6 6\n1 alltoall 8 8 6 6\n0 allgather 8 8 6 6\n"
      "1 allgather 8 8 6 6\n0 scan 8 10 6\n1 scan 8 10 6\n0 exscan 8 10 6\n1 exscan 8 10 6\n0 finalize\n1 "
      "finalize\n",
      "0 init 1\n1 init 1\n0 allgatherv 4 4 4 6 6\n1 allgatherv 4 4 4 6 6\n0 gather 8 8 0 6 6\n1 gather 8 8 "
      "0 6 6\n"
      "0 scatter 8 8 0 6 6\n1 scatter 8 8 0 6 6\n0 gatherv 8 8 8 0 6 6\n1 gatherv 8 8 8 0 6 6\n0 scatterv 8 "
      "8 8 0 6 6\n"
      "1 scatterv 8 8 8 0 6 6\n0 reducescatter 4 4 10 6\n1 reducescatter 4 4 10 6\n0 alltoallv 8 4 4 8 4 4 6 "
      "6\n"
      "1 alltoallv 8 4 4 8 4 4 6 6\n0 finalize\n1 finalize\n"};
}

bool is_text() {
  return true;
}

}  // namespace nplus1::fuzz

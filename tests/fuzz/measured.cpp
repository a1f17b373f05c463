// Any text as measured run-times (ours, PGMPI's), as message times for calibration, as a measured host, as a catalogue of guidelines, and as
// a journal's data.
#include "calibrate/fit.hpp"
#include "calibrate/host.hpp"
#include "guidelines/catalogue.hpp"
#include "guidelines/raw_data.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {

void run(Input input) {
  const MemoryFile file{as_text(input)};
  static_cast<void>(guidelines::read_raw({file.path(), 1, 4}, [](const auto&, const auto&) {}));
  static_cast<void>(calibrate::read_measurements(as_text(input)));
  static_cast<void>(calibrate::parse_host(as_text(input), "fuzz.json"));
  static_cast<void>(guidelines::parse_catalogue(std::string{as_text(input)}, "fuzz.json"));
}

std::vector<std::string> seeds() {
  return {
      guidelines::csv_head({{"purpose", "measure"}, {"clock", "real"}}) +
          guidelines::csv_row({0, "MPI_Bcast", 4, 0, 8, 1e-6, 5e-7, false}) +
          guidelines::csv_row({1, "MPI_Bcast", 4, 1, 64, 0.5, {}, true}),
      "#@nrep=10\n#@mpi_library=MPICH\ntest nrep count runtime_sec\nMPI_Bcast 0 1 0.0000012\nMPI_Bcast 1 1 "
      "1.5e-6\n"
      "MPI_Allreduce 0 16 3e-6\n",
      "size,seconds\n8,1e-6\n64,1.1e-6\n1024,2e-6\n65536,5e-5\n",
      R"({"schema": "nplus1-host/1", "scalar_flops": 1e9, "vector_flops": 4e9, "levels": [{"name": "L1", "bandwidth": 1e11, "latency_s": 1e-9}]})",
      R"({"version": 1, "guidelines": [{"name": "GL1", "function": "MPI_Bcast", "mock_up": "x", "sizes": [1, 2]}]})"};
}

bool is_text() {
  return true;
}

}  // namespace nplus1::fuzz

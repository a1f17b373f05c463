// Any text as measured run-times (ours, PGMPI's), as message times for calibration, as a measured host, as a catalogue of
// guidelines, as a journal's data, and as what ranks have measured of overlap.
#include "overlap/measured.hpp"
#include "calibrate/fit.hpp"
#include "calibrate/host.hpp"
#include "guidelines/catalogue.hpp"
#include "guidelines/raw_data.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {

bool run(Input input) {
  const MemoryFile file{as_text(input)};
  bool whole = guidelines::read_raw({file.path(), 1, 4}, [](const auto&, const auto&) {}).ok();
  whole |= calibrate::read_measurements(as_text(input)).ok();
  whole |= calibrate::parse_host(as_text(input), "fuzz.json").ok();
  whole |= guidelines::parse_catalogue(std::string{as_text(input)}, "fuzz.json").ok();
  static_cast<void>(overlap::measured_lines(std::string{as_text(input)}));
  const auto measured = overlap::read_measurement(std::string{as_text(input)}, [](const std::string& frame) {
    overlap::Place place;
    place.address = frame;
    return place;
  });
  if (!measured) return whole;
  static_cast<void>(overlap::measurement_text(measured.value()));
  return overlap::measured_lines(overlap::measurement_json(measured.value())).ok();
}

std::vector<std::string> seeds() {
  return {
      "nplus1-measured 1\nranks 2\nrank 0\nprotect 4096 2000\npair 0 1 1 2000\npair 0 1 65536 13000\n"
      "not-deferrable 2\nchain 21\ncall MPI_Recv\nframe /bin/halo+0x72 ab\nmessage receive 1 4096\n"
      "ended touch 21\nending 8 0\nat /bin/halo+0x80 ab\nblocking 10 60000 9e6 10 0 0 9 1e5 9e6\n"
      "deferred 10 40000 9e6 10 5000 9e6 9 1e5 9e6\nleast 900 1e4\nbetween 20 1e4 9e6\nrank 1\nstopped "
      "why\nend\n",
      guidelines::csv_head({{"purpose", "measure"}, {"clock", "real"}}) +
          guidelines::csv_row({0, "MPI_Bcast", 4, 0, 8, 1e-6, 5e-7, false}) +
          guidelines::csv_row({1, "MPI_Bcast", 4, 1, 64, 0.5, {}, true}),
      "#@nrep=10\n#@mpi_library=MPICH\ntest nrep count runtime_sec\nMPI_Bcast 0 1 0.0000012\nMPI_Bcast 1 1 "
      "1.5e-6\n"
      "MPI_Allreduce 0 16 3e-6\n",
      "half_round_trip,8,0,1e-6\nhalf_round_trip,64,0,1.1e-6\nhalf_round_trip,1024,0,2e-6\nhalf_round_trip,"
      "4096,0,3e-6\n"
      "half_round_trip,65536,0,5e-5\nsend,8,0,2e-7\ngap,8,0,1e-7\neager,8,0,0\nreduce,1024,0,1e-6\n",
      R"({"schema": "nplus1-host/1", "scalar_flops": 1e9, "vector_flops": 4e9, "levels": [{"name": "L1", "bandwidth": 1e11, "latency_s": 1e-9}]})",
      R"([{"orig": "Allgather", "mock": "Allgather_with_Gather_Bcast", "msizes": [1, 1024], "bound": "x", "set": "own"},
          {"orig": "MPI_Bcast"}])"};
}

bool is_text() {
  return true;
}

}  // namespace nplus1::fuzz

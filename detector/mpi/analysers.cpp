// The parallel detector: Q processes that search one recording. `nplus1 collectives --analysers Q` starts it:
//
//   mpirun -np Q nplus1-analysers RECORDING ANSWER METHOD KEEP      METHOD: default, paper; KEEP: first, all
//
// The first writes what all have found to the file ANSWER (detector/analysis.hpp), and any error to stderr.
#include <malloc.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "detector/analysis.hpp"
#include "detector/mpi/shared_search.hpp"
#include "detector/paper_method.hpp"

namespace nplus1::detector {
namespace {

[[noreturn]] void fail(const Error& error) {
  std::fprintf(stderr, "nplus1-analysers: %s; %s\n", error.what.c_str(), error.remedy.c_str());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::abort();
}

Analysis analyse(const Peers& peers, const std::string& recording, Method method, Keep keep) {
  auto reader = events::recording::Reader::open(recording);
  if (!reader) fail(reader.error());
  auto reading = read_together(peers, reader.value());
  if (!reading) fail(reading.error());
  SharedReading& r = reading.value();
  Analysis analysis;
  analysis.messages = r.mine.all.size();
  analysis.without_hashes = r.mine.without_hashes;
  analysis.unmatched = r.mine.unmatched;
  if (const std::string text = r.coverage.text(); text != "complete") analysis.damage = text;
  analysis.findings = search_together(peers, r, method, keep);
  return analysis;
}

/// All parts at the first analyser.
Analysis gathered(const Peers& peers, const Analysis& mine) {
  const std::string bytes = to_bytes(mine);
  const auto sizes = peers.first(std::vector<std::uint64_t>{bytes.size()});
  const auto whole = peers.first(std::vector<char>(bytes.begin(), bytes.end()));
  std::vector<Analysis> parts;
  std::size_t at = 0;
  for (const std::uint64_t size : sizes) {
    auto part = from_bytes({whole.data() + at, static_cast<std::size_t>(size)});
    if (!part) fail(part.error());
    parts.push_back(std::move(part).value());
    at += static_cast<std::size_t>(size);
  }
  return merged(std::move(parts));
}

/// Payloads of one finding were with several analysers.
void finish_paper(Analysis& analysis) {
  std::vector<Finding> found;
  absorb(found, std::move(analysis.findings));
  compose(found);
  sort_findings(found);
  analysis.findings = std::move(found);
}

int run(const std::string& recording, const std::string& answer, Method method, Keep keep) {
  const Peers peers;
  Analysis analysis = gathered(peers, analyse(peers, recording, method, keep));
  if (method == Method::kPaper) finish_paper(analysis);
  if (peers.rank() != 0) return EXIT_SUCCESS;
  const std::string bytes = to_bytes(analysis);
  std::ofstream out{answer, std::ios::binary};
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) fail(Error{"cannot write " + answer, "check the disk of the temporary folder"});
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace nplus1::detector

int main(int argc, char** argv) {
  using namespace nplus1::detector;
  // What one phase gives back the next one takes: the kernel need not clear it again.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 64 << 20);
  MPI_Init(&argc, &argv);
  if (argc != 5) {
    std::fprintf(stderr, "usage: nplus1-analysers RECORDING ANSWER default|paper first|all\n");
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  const Method method = std::string{argv[3]} == "paper" ? Method::kPaper : Method::kDefault;
  const Keep keep = std::string{argv[4]} == "all" ? Keep::kAll : Keep::kFirst;
  const int result = run(argv[1], argv[2], method, keep);
  MPI_Finalize();
  return result;
}

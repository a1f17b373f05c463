// What the content of messages costs: GB/s of each hash on payloads in one piece, by size, and of packing and
// hashing strided ones, as the stubs do it. Bytes are those of the payload, in the cache where they fit.
//   build/bin/payload_bench [--benchmark_filter=...]
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "events/payload/payload_hash.hpp"

namespace {

using namespace nplus1::events::payload;

constexpr std::size_t kPackedAtATime = 65536;  // as stubs/runtime/capture/capture.cpp has it

std::vector<double> numbers(std::size_t bytes) {
  std::mt19937_64 random{1};
  std::vector<double> values(bytes / sizeof(double) + 1);
  for (double& v : values) v = static_cast<double>(random() % 1000) * 0.1;
  return values;
}

void contiguous(benchmark::State& state, ElementType type, Choice choice) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const std::vector<double> values = numbers(size);
  for (auto _ : state) {
    nplus1::events::Detail detail;
    PayloadHash hash{type, choice, size};
    hash.add(values.data(), size);
    hash.store(detail);
    benchmark::DoNotOptimize(detail);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(size) * state.iterations());
}

/// `block` doubles, then as many that are not sent.
void strided(benchmark::State& state, int block) {
  const int size = static_cast<int>(state.range(0));
  const std::vector<double> values = numbers(2 * static_cast<std::size_t>(size));
  MPI_Datatype type;
  MPI_Type_vector(size / 8 / block, block, 2 * block, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  std::vector<std::byte> packed(static_cast<std::size_t>(size));
  for (auto _ : state) {
    nplus1::events::Detail detail;
    PayloadHash hash{ElementType::kDouble, Choice{}, packed.size()};
    int position = 0;
    MPI_Pack(values.data(), 1, type, packed.data(), size, &position, MPI_COMM_SELF);
    for (std::size_t at = 0; at < packed.size(); at += kPackedAtATime)
      hash.add(packed.data() + at, std::min(kPackedAtATime, packed.size() - at));
    hash.store(detail);
    benchmark::DoNotOptimize(detail);
  }
  MPI_Type_free(&type);
  state.SetBytesProcessed(std::int64_t{size} * state.iterations());
}

void add(const std::string& name, ElementType type, Choice choice) {
  benchmark::RegisterBenchmark(name.c_str(), contiguous, type, choice)
      ->Arg(64)
      ->Arg(1024)
      ->Arg(65536)
      ->Arg(4 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RegisterBenchmark("crc32 (zlib)", contiguous, ElementType::kWords, Choice{kPrefix | kCrc32, 0})
      ->Arg(64)
      ->Arg(1024)
      ->Arg(65536);
  // In the order of registration: from here on ISA-L's.
  benchmark::RegisterBenchmark("(choosing the CRC)", [](benchmark::State& state) {
    for (auto _ : state) choose_crc();
  })->Iterations(1);
  add("crc32", ElementType::kWords, {kPrefix | kCrc32, 0});
  add("poly61 of words", ElementType::kWords, {kPrefix | kElements, 0});
  add("poly61 of int64", ElementType::kInt64, {kPrefix | kElements, 0});
  add("poly61 of int32", ElementType::kInt32, {kPrefix | kElements, 0});
  add("crc32 and sketch of doubles", ElementType::kDouble, {kPrefix | kCrc32 | kElements, 0});
  add("crc32 and sketch of floats", ElementType::kFloat, {kPrefix | kCrc32 | kElements, 0});
  add("all, int64", ElementType::kInt64, {Choice::kAll, 0});
  add("all, doubles", ElementType::kDouble, {Choice::kAll, 0});
  benchmark::RegisterBenchmark("whole payload", contiguous, ElementType::kDouble, Choice{})->Arg(8)->Arg(64);
  for (const int block : {1, 8, 64})
    benchmark::RegisterBenchmark(("all, blocks of " + std::to_string(block) + " doubles").c_str(), strided,
                                 block)
        ->Arg(65536)
        ->Arg(4 << 20);
  benchmark::RunSpecifiedBenchmarks();
  MPI_Finalize();
  return 0;
}

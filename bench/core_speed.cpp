// What a host does to a loop that does the same each time, and what is left of it when the core's own speed is taken out
// (stubs/clock/core_speed.hpp): core_speed SECONDS. Prints a table in Markdown: a sparse matrix times a vector, warm, in
// multiples of its shortest time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "stubs/clock/core_speed.hpp"
#include "stubs/clock/thread_clock.hpp"

namespace {

using nplus1::stubs::core_speed;
using nplus1::stubs::CoreSpeed;
using nplus1::stubs::ticks;

constexpr int kRows = 1000, kOfRow = 32, kColumns = 2000;

struct Product {
  std::vector<double> entries = std::vector<double>(std::size_t{kRows} * kOfRow),
                      in = std::vector<double>(kColumns), out = std::vector<double>(kRows);
  std::vector<int> columns = std::vector<int>(entries.size());

  Product() {
    std::minstd_rand random;
    for (int& c : columns) c = static_cast<int>(random() % kColumns);
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = 0.5 * static_cast<double>(i);
    for (int i = 0; i < kColumns; ++i) in[static_cast<std::size_t>(i)] = i;
  }
  void operator()() {
    for (std::size_t row = 0; row < kRows; ++row) {
      double sum = 0;
      for (std::size_t k = row * kOfRow; k < (row + 1) * kOfRow; ++k)
        sum += entries[k] * in[static_cast<std::size_t>(columns[k])];
      out[row] = sum;
    }
  }
};

struct Reading {
  double ticks = 0, cycles = 0;  // the latter but for a factor
  double share = 0;              // loads, the worse of before and after
};

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void print_row(const std::string& what, const std::vector<double>& lengths, double shortest) {
  std::string line = fmt::format("| {} | {} |", what, lengths.size());
  for (const double share : {0.25, 0.5, 0.75, 0.9, 0.99})
    line += fmt::format(" {:.3f} |", quantile(lengths, share) / shortest);
  fmt::print("{}\n", line);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  nplus1::stubs::calibrate_ticks();
  if (!core_speed().is_known()) return fmt::print(stderr, "this processor has no time stamp counter\n"), 69;
  Product product;
  std::vector<Reading> readings;
  const std::int64_t end =
      ticks() + static_cast<std::int64_t>(1e9 * seconds / nplus1::stubs::nanoseconds_per_tick());
  while (ticks() < end) {
    product();
    product();
    const CoreSpeed before = core_speed();
    const std::int64_t began = ticks();
    product();
    const auto took = static_cast<double>(ticks() - began);
    const CoreSpeed after = core_speed();
    readings.push_back({took, 2 * took / static_cast<double>(before.chain_ticks + after.chain_ticks),
                        std::max(before.share(), after.share())});
  }
  std::vector<double> as_timed, cycles, shares, own, shared;
  for (const Reading& r : readings) {
    as_timed.push_back(r.ticks);
    cycles.push_back(r.cycles);
    shares.push_back(r.share);
  }
  const double least_share = quantile(shares, 0.05);
  for (const Reading& r : readings) (r.share < 1.04 * least_share ? own : shared).push_back(r.cycles);
  fmt::print(
      "| a product, over its 5 % quantile | readings | 25 % | 50 % | 75 % | 90 % | 99 % "
      "|\n|---|---|---|---|---|---|---|\n");
  print_row("as timed", as_timed, quantile(as_timed, 0.05));
  print_row("in cycles", cycles, quantile(cycles, 0.05));
  print_row("in cycles, the core's other thread idle", own, quantile(own, 0.05));
  if (!shared.empty()) print_row("in cycles, the other thread in use", shared, quantile(own, 0.05));
  return 0;
}

// Rates of false and missed findings over random programs: detector_score [FIRST_SEED [PROGRAMS [show FAMILY]]]. Prints
// the tables of docs/detector_scenarios.md. "wavefront MESSAGES" times the search instead. With `show`, of the families
// whose name begins so only ("without": those without a collective operation), and what is found where that is wrong or
// missed.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <string_view>

#include "tests/detector/live_world.hpp"
#include "tests/detector/play.hpp"
#include "tests/detector/score.hpp"

using namespace nplus1;
using namespace nplus1::tests;

namespace {

struct Tally {
  std::uint64_t programs = 0;
  std::uint64_t wrong = 0;
  std::uint64_t provable = 0;
  std::uint64_t proved = 0;
  std::uint64_t found = 0;
};

std::string show;

void count(const RandomProgram& program, std::uint64_t seed, std::map<std::string, Tally>& families,
           std::map<int, Tally>& ranks) {
  if (!program.truth.empty() && !program.family.starts_with(show)) return;
  const Judgement j = judgement(program);
  const bool provable = !program.truth.empty() && program.truth.front().provable;
  for (Tally* t : {&families[program.family], &families["all"], &ranks[program.ranks]}) {
    ++t->programs;
    t->wrong += j.wrong.empty() ? 0U : 1U;
    t->provable += provable ? 1U : 0U;
    t->proved += provable && j.found ? 1U : 0U;
    t->found += j.found ? 1U : 0U;
  }
  if (show.empty() || (j.wrong.empty() && (j.found || !provable))) return;
  fmt::print("--- {} seed {}, {} ranks, type {}", program.family, seed, program.ranks,
             static_cast<int>(program.type));
  if (!program.truth.empty())
    fmt::print(": {} {} {} times on {} groups of {}", program.truth.front().kind, program.truth.front().op,
               program.truth.front().count, program.truth.front().groups.size(),
               program.truth.front().groups.front().size());
  fmt::print("{}\n{}\n", j.wrong.empty() ? " MISSED" : " WRONG",
             detector::collectives_text(findings_of(program), detector::Detail::kAll));
}

void print(const char* of, const std::map<std::string, Tally>& rows) {
  fmt::print(
      "\n| {} | programs | with a false finding | with a proof | found | recall | found of all "
      "|\n|---|---|---|---|---|---|---|\n",
      of);
  for (const auto& [name, t] : rows)
    fmt::print("| {} | {} | {} | {} | {} | {} | {} |\n", name, t.programs, t.wrong, t.provable, t.proved,
               t.provable == 0
                   ? ""
                   : fmt::format("{:.3f}", static_cast<double>(t.proved) / static_cast<double>(t.provable)),
               t.found);
}

std::map<std::string, Tally> named(const std::map<int, Tally>& rows) {
  std::map<std::string, Tally> result;
  for (const auto& [ranks, t] : rows) result[fmt::format("{:2}", ranks)] = t;
  return result;
}

/// NPB LU's sweeps on 4 x 4 ranks, about so many messages: how long the search takes.
int time_wavefront(int messages) {
  constexpr int kPlanes = 30;
  RandomProgram program;
  program.ranks = 16;
  program.type = World::Type::kDouble;
  program.play = [&](World& w) {
    Play y{w, Dice{1}, Values::kSigned};
    for (int sent = 0; sent < messages;)
      for (const bool back : {false, true})
        for (int k = 0; k < kPlanes; ++k)
          for (int i = 0; i < 16; ++i) {
            const int r = back ? 15 - i : i;
            const int step = back ? -1 : 1;
            y.draw(r, 0, 40);
            const auto go = [&](int to, std::int64_t place, int site) {
              w.send(r, place, 20, to, 100 + place, {.site = site, .tag = back ? 2 : 1});
              ++sent;
            };
            if (r / 4 + step >= 0 && r / 4 + step < 4) go(r + 4 * step, 0, back ? 3 : 1);
            if (r % 4 + step >= 0 && r % 4 + step < 4) go(r + step, 20, back ? 4 : 2);
          }
  };
  detector::TransferCollector collector{program.ranks};
  LiveWorld world{collector, program.ranks, program.type};
  program.play(world);
  const detector::Transfers transfers = collector.take();
  const std::clock_t begin = std::clock();
  const auto found = detector::find_collectives(transfers, collector);
  fmt::print("{} messages: {:.2f} s of CPU\n{}", transfers.all.size(),
             static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, detector::collectives_text(found));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view{argv[1]} == "wavefront") return time_wavefront(std::atoi(argv[2]));
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const std::uint64_t programs = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 2000;
  if (argc > 4) show = argv[4];
  const bool without_too = show.empty() || show == "without";
  std::map<std::string, Tally> without;
  std::map<int, Tally> without_ranks;
  for (std::uint64_t s = first; without_too && s < first + programs; ++s)
    count(program_without_collective(s), s, without, without_ranks);
  const Tally& none = without["all"];
  fmt::print("{} programs without a collective operation, {} with a false finding: at most {:.5f} (95 %)\n",
             none.programs, none.wrong, upper_bound(none.wrong, none.programs));
  print("without", without);
  print("ranks", named(without_ranks));
  for (const std::string& kind : planted_kinds()) {
    if (!show.starts_with(kind) && !show.empty()) continue;
    std::map<std::string, Tally> with;
    std::map<int, Tally> with_ranks;
    for (std::uint64_t s = first; s < first + programs; ++s)
      count(program_with(kind, s), s, with, with_ranks);
    print(kind.c_str(), with);
    print((kind + ", ranks").c_str(), named(with_ranks));
  }
}

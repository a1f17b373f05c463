#include "tests/detector/planted.hpp"

#include <cmath>
#include <set>

namespace nplus1::tests {
namespace {

const std::set<std::string> kReductions{"reduce", "allreduce", "reduce_scatter", "scan"};

std::vector<std::string> also(const std::string& kind, const std::string& algorithm) {
  if (kind == "scatter") return {"scatterv"};
  if (kind == "gather") return {"gatherv"};
  if (kind == "allgather") return {"allgatherv"};
  if (kind == "alltoall") return {"alltoallv"};
  if (kind == "reduce_scatter") return {"reduce_scatter_block"};
  // The same messages: the last rank's value is used, or all are.
  if (kind == "scan" && algorithm == "chain") return {"reduce", "exscan"};
  if (kind == "reduce" && algorithm == "chain") return {"scan"};
  return {};
}

std::vector<std::string> parts(const std::string& kind, const std::string& algorithm) {
  if (kind == "allreduce")
    return {"reduce", "bcast", "gather", "allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block"};
  if (kind == "allgather" && algorithm == "gather and bcast") return {"gather", "gatherv", "bcast"};
  if (kind == "allgather") return {"bcast"};
  return {};
}

struct Form {
  std::string kind, algorithm, op;
  World::Type type;
  Values values;
  int members, groups, count;
  bool rotating;
  std::int64_t length;
};
/// Other exchanges of as many numbers would look the same once in 2^20.
constexpr double kBits = 20;

double log2_of_factorial(double n) {
  return std::lgamma(n + 1) / std::log(2.0);
}

/// Bits of a flat scatter or gather: its root and the order of its parts count once for each root.
double bits_of_stars(const Form& f) {
  const double p = f.members;
  const double roots = f.rotating ? std::min(f.members, f.count) : 1;
  return f.groups * (roots * ((p - 2) * std::log2(p) + log2_of_factorial(p - 1) - 1) +
                     f.count * ((p - 1) * std::log2(p - 1) - log2_of_factorial(p - 1)));
}

/// Of one barrier.
double bits_of_barrier(const Form& f) {
  const double p = f.members;
  if (f.algorithm != "dissemination")
    return 2 * (p - 1) * std::log2(p * (p - 1)) - (p - 1) * std::log2(p) - 2 * log2_of_factorial(p - 1);
  const double m = p * ceil_log2(f.members);
  return f.members == 3 ? 0 : m * std::log2(p * (p - 1)) - log2_of_factorial(m) - std::log2(3);
}

/// Whether the messages hold a proof at all: docs/detector_scenarios.md, "Where there is a proof".
bool is_provable(const Form& f) {
  const auto elements = static_cast<int>(std::min<std::int64_t>(f.length, 5));
  const bool many = f.values == Values::kMany || f.values == Values::kSigned;
  const int times = f.groups * f.count;
  if (f.kind == "barrier") return times * bits_of_barrier(f) >= kBits;
  if (!many) return false;
  // What goes to both others of three: one bit for each of them, and for each piece.
  if (f.kind == "bcast" && f.members == 3) {
    const int pieces = f.algorithm == "scatter and ring"  ? 3
                       : f.algorithm == "pipelined chain" ? elements - elements / 5
                                                          : 1;
    return 2 * times * pieces >= kBits;
  }
  // Both parts from the same place: so are tasks.
  if (f.kind == "scatter" && f.algorithm == "repacked tree" && f.members == 3) return false;
  if ((f.kind == "scatter" || f.kind == "gather") && (f.algorithm == "linear" || f.members == 3))
    return bits_of_stars(f) >= kBits;
  if (f.kind == "scatter" || f.kind == "gather") return f.length >= 4 && f.members > 4;
  if (f.kind == "alltoall") return f.members > 3 || f.count > 1;
  if (!kReductions.contains(f.kind)) return true;
  if (f.op == "max" || f.op == "min") {
    // Of halves of halves the elements that are known are others each time.
    if (f.algorithm == "linear" || f.algorithm == "halving") return false;
    if (f.algorithm == "gather, combine, bcast")
      return elements > 1 && elements * f.count * std::log2(f.members) >= kBits;
    // Ranks that get something before they send.
    const int checks = f.algorithm == "chain" ? f.members - 2 : f.members / 2 - 1;
    return elements * f.count * checks >= kBits;
  }
  if (f.op == "prod" || f.members < 4) return false;
  // Of sums only where all operands are seen, or what they must have been is told by those that are.
  return f.algorithm == "doubling" || (f.algorithm == "ring" && f.kind == "allreduce" && elements > 2);
}

std::vector<std::vector<int>> groups_of(Dice& dice, int p) {
  std::vector<std::vector<int>> groups;
  std::vector<int> sizes;
  for (int n = 3; n < p; ++n)
    if (p % n == 0) sizes.push_back(n);
  const int n = sizes.empty() || dice.chance(0.8) ? p : dice.of(sizes);
  const bool strided = dice.chance(0.5);
  for (int g = 0; g < p / n; ++g) {
    auto& group = groups.emplace_back();
    for (int i = 0; i < n; ++i) group.push_back(strided ? g + i * (p / n) : g * n + i);
  }
  return groups;
}

}  // namespace

const std::vector<std::string>& planted_kinds() {
  static const std::vector<std::string> all{"bcast",   "scatter", "gather",    "allgather",      "alltoall",
                                            "barrier", "reduce",  "allreduce", "reduce_scatter", "scan"};
  return all;
}

RandomProgram program_with(const std::string& kind, std::uint64_t seed) {
  Dice dice{seed ^ 0x5bd1e995U};
  const bool reduces = kReductions.contains(kind);
  RandomProgram program;
  program.ranks = dice.between(3, 17);
  program.type = dice.of(std::vector{World::Type::kInt64, World::Type::kInt32, World::Type::kDouble,
                                     World::Type::kDouble, World::Type::kFloat});
  if (kind == "barrier") program.type = World::Type::kByte;
  const auto groups = groups_of(dice, program.ranks);
  const auto members = static_cast<unsigned>(groups.front().size());
  std::vector<Algorithm> fitting;
  for (const Algorithm& a : reduces ? combining(kind) : moving(kind))
    if (!a.power_of_two || (members & (members - 1)) == 0) fitting.push_back(a);
  const Algorithm algorithm = dice.of(fitting);
  const std::string op =
      !reduces ? "" : dice.of(std::vector<std::string>{"sum", "sum", "max", "min", "prod"});
  const Values values = kind == "barrier" ? Values::kSame
                        : dice.chance(0.85)
                            ? (dice.chance(0.5) && op != "prod" ? Values::kSigned : Values::kMany)
                            : dice.of(std::vector{Values::kFew, Values::kMostlyZero, Values::kSame});
  const int count = dice.chance(0.4) ? 1 : dice.between(2, 8);
  const bool rotating = !reduces && kind != "barrier" && dice.chance(0.3);
  const std::int64_t length = dice.chance(0.2) ? 1 : dice.between(2, 120);
  const bool uneven = dice.chance(0.25);
  const bool beside = dice.chance(0.3);
  const std::uint64_t own = dice.bits();
  const int root = dice.between(0, static_cast<int>(members) - 1);
  if (op == "prod") program.type = World::Type::kDouble;  // those of integers overflow
  program.family = kind + " " + algorithm.name;
  program.play = [=](World& w) {
    Play y{w, Dice{own}, values};
    for (int k = 0; k < count; ++k) {
      y.site = 10;
      for (const auto& group : groups) {
        Planted o{y, group, root, length, uneven, op};
        if (rotating) o.root = (root + k) % o.p();
        for (const int r : group) {
          y.draw(r, Planted::kVector, o.all() + length * o.p());
          if (!reduces) y.draw(r, Planted::kSpare, o.all());
        }
        algorithm.run(o);
      }
      if (!beside) continue;
      // Other lines, other data, in between.
      y.site = 1;
      std::vector<Send> sends;
      for (int r = 0; r < w.ranks(); ++r) {
        y.draw(r, 18000, 40);
        sends.push_back({r, 18000, 40, (r + 1) % w.ranks(), 19000});
      }
      y.at_once(sends);
    }
  };
  Truth truth;
  truth.kind = kind;
  truth.op = op;
  truth.also = also(kind, algorithm.name);
  truth.parts = parts(kind, algorithm.name);
  // One number that is the largest goes to all unchanged, and so does what zeros are added to.
  if (reduces && (length <= 4 || (values != Values::kMany && values != Values::kSigned) ||
                  (kind == "scan" && members == 3)))
    truth.parts.emplace_back("bcast");
  // So do all blocks that went round a ring, if each happened to be the largest.
  if (kind == "reduce_scatter" && (op == "max" || op == "min") && length <= 4)
    truth.parts.insert(truth.parts.end(), {"allgather", "allgatherv"});
  truth.groups = groups;
  truth.count = static_cast<std::uint64_t>(count);
  truth.provable = is_provable({kind, algorithm.name, op, program.type, values, static_cast<int>(members),
                                static_cast<int>(groups.size()), count, rotating, length});
  program.truth.push_back(truth);
  return program;
}

}  // namespace nplus1::tests

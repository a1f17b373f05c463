#include "guidelines/testing/null_data.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <utility>

namespace nplus1::guidelines {
namespace {

using Rows = std::vector<Measurement>;
using Both = std::pair<Rows, Rows>;
using Key = std::tuple<int, std::string, std::uint64_t, int>;  // processes, test, size, mpirun

std::map<Key, Rows> by_key(const Rows& real) {
  std::map<Key, Rows> rows;
  for (const Measurement& m : real) rows[{m.processes, m.test, m.size, m.mpirun}].push_back(m);
  return rows;
}

Both halves(Rows rows) {
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
  return {{rows.begin(), middle}, {middle, rows.end()}};
}

/// One mpirun's rows of both sides; nothing if the scheme needs what was not measured.
Both drawn(const std::map<Key, Rows>& rows, const Key& key, const Rows& own, NullScheme scheme,
           std::mt19937_64& random) {
  if (scheme == NullScheme::kFirstHalf) return halves(own);
  if (scheme == NullScheme::kSplit) {
    Rows shuffled = own;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    return halves(std::move(shuffled));
  }
  Key again = key;
  std::get<1>(again) = again_name(std::get<1>(key));
  const auto second = rows.find(again);
  if (second == rows.end()) return {};
  const bool swapped = scheme == NullScheme::kRelabelled && random() % 2 == 0;
  return swapped ? Both{second->second, own} : Both{own, second->second};
}

void append(Rows& to, Rows rows, const std::string& test) {
  for (Measurement& m : rows) {
    m.test = test;
    m.without_copies.reset();
    to.push_back(std::move(m));
  }
}

}  // namespace

NullData null_data(const std::vector<Measurement>& real, const Catalogue& catalogue, NullScheme scheme,
                   std::uint64_t seed) {
  const std::map<Key, Rows> rows = by_key(real);
  std::mt19937_64 random{seed};
  NullData made;
  for (const Guideline& g : catalogue.guidelines) {
    if (!g.is_pattern()) continue;
    const std::string original = "Null" + std::to_string(made.catalogue.guidelines.size());
    const std::string mock_up = original + "_with_Itself";
    made.catalogue.guidelines.push_back({original, mock_up, g.original, g.set, g.sizes});
    std::map<std::uint64_t, bool> swapped;
    for (const auto& [key, own] : rows) {
      if (std::get<1>(key) != g.original) continue;
      const bool swap = swapped.try_emplace(std::get<2>(key), random() % 2 == 0).first->second;
      auto [left, right] = drawn(rows, key, own, scheme, random);
      if (swap) std::swap(left, right);
      append(made.measurements, std::move(left), original);
      append(made.measurements, std::move(right), mock_up);
    }
  }
  return made;
}

}  // namespace nplus1::guidelines

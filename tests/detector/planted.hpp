// How a planted operation is carried out. Tests only.
#pragma once

#include "tests/detector/play.hpp"
#include "tests/detector/random_programs.hpp"

namespace nplus1::tests {

/// One operation among `ranks` (of which the program's rank of member m is ranks[m]), done once by run(). Data lie from
/// kVector on; kSpare is for what arrives.
struct Planted {
  Play& y;
  std::vector<int> ranks;
  int root = 0;             // a member
  std::int64_t length = 1;  // of a block, or of the vector
  bool uneven = false;      // blocks of different lengths
  std::string op;

  static constexpr std::int64_t kVector = 0;
  static constexpr std::int64_t kSpare = 6000;
  static constexpr std::int64_t kThird = 12000;

  [[nodiscard]] int p() const { return static_cast<int>(ranks.size()); }
  [[nodiscard]] int rank(int member) const {
    return ranks[static_cast<std::size_t>((member % p() + p()) % p())];
  }
  /// Of block b among p(), one behind the other.
  [[nodiscard]] std::int64_t size(int b) const { return uneven ? 1 + length * (1 + b * 3 % 5) / 3 : length; }
  [[nodiscard]] std::int64_t place(int b) const {
    std::int64_t at = 0;
    for (int i = 0; i < b; ++i) at += size(i);
    return at;
  }
  [[nodiscard]] std::int64_t all() const { return place(p()); }
  void draw_vectors(std::int64_t n) {
    for (const int r : ranks) y.draw(r, kVector, n);
  }
  /// Into (op)= from, element by element.
  void combine(int rank, std::int64_t into, std::int64_t from, std::int64_t n);
};

inline constexpr std::int64_t kVector = Planted::kVector;
inline constexpr std::int64_t kSpare = Planted::kSpare;

/// The rank of the member that comes so many after the root.
[[nodiscard]] inline int at(const Planted& o, int relative) {
  return o.rank(o.root + relative);
}

struct Algorithm {
  std::string name;
  void (*run)(Planted&);
  bool power_of_two = false;
};

/// Of a kind; `op` in Planted for reductions.
[[nodiscard]] const std::vector<Algorithm>& moving(const std::string& kind);
[[nodiscard]] const std::vector<Algorithm>& combining(const std::string& kind);

}  // namespace nplus1::tests

// Where the detector was too sure of what real programs do, in small: HPL, ScaLAPACK's test programs, NAS CG. What comes
// out as certain has to be.

#include <algorithm>

#include "detector/testing/scenarios.hpp"

namespace nplus1::detector {
namespace {

/// HPL's long broadcast in a row of 16: halves go down a tree, then all pieces go round. Each has a tag of its own; the
/// owner's panel lies elsewhere, the others' where the last one was.
class LongRow {
 public:
  explicit LongRow(World& w) : w_{w} {}
  void play() {
    for (int k = 0; k < 6; ++k) {
      root_ = 5 * k % w_.ranks();
      length_ = 9 - k;
      call_ = {.site = 1, .tag = 2001 + k};
      w_.fill(root_, place(0, 0), length_ * w_.ranks());
      spread();
      call_.site = 2;
      roll();
    }
  }

 private:
  [[nodiscard]] int rank(int position) const { return (root_ + position) % w_.ranks(); }
  [[nodiscard]] std::int64_t place(int position, int piece) const {
    return (position == 0 ? 1000 : 0) + length_ * piece;
  }
  void spread() {
    for (int half = w_.ranks() / 2; half > 0; half /= 2)
      for (int from = 0; from < w_.ranks(); from += 2 * half)
        w_.send(rank(from), place(from, from + half), length_ * half, rank(from + half),
                place(from + half, from + half), call_);
  }
  void roll() {
    const int p = w_.ranks();
    for (int step = 0; step + 1 < p; ++step) {
      std::vector<World::Message> under_way;
      for (int i = 0; i < p; ++i)
        under_way.push_back(
            w_.post(rank(i), place(i, (i + p - step) % p), length_, rank((i + 1) % p), call_));
      for (int i = 0; i < p; ++i) {
        const int to = (i + 1) % p;
        w_.receive(under_way[static_cast<std::size_t>(i)], place(to, (i + p - step) % p), call_);
      }
    }
  }

  World& w_;
  int root_ = 0;
  std::int64_t length_ = 0;
  World::Call call_;
};

/// The same matrix is solved again and again: its rows go from here to there, to some ranks more often than to others.
void same_data_again_and_again(World& w) {
  for (int row = 0; row < 3; ++row) {
    w.fill(2, 0, 8);
    for (int i = 0; i < 12 + row; ++i) w.send(2, 0, 8, 0, 50, {});
    for (int i = 0; i < 3; ++i) {
      w.send(2, 0, 8, 1, 50, {});
      w.send(0, 50, 8, 1, 50, {});
    }
    for (int i = 0; i < 7; ++i) w.send(1, 50, 8, 3, 50, {});
  }
}

/// One function sends all the program's messages, here and there; once, called from elsewhere, what it sends to one
/// rank is sent on.
void coincidence_in_a_wrapper(World& w) {
  w.name_site(1, {"wrapper.c:10", "swap.c:20", "solve.c:30"});
  w.name_site(2, {"wrapper.c:10", "swap.c:20", "solve.c:40"});
  for (int i = 0; i < 30; ++i) {
    const int from = static_cast<int>(w.random(4));
    w.fill(from, 0, 6);
    w.send(from, 0, 6, (from + 1 + static_cast<int>(w.random(3))) % 4, 50, {.site = 1, .tag = 1});
  }
  w.fill(0, 100, 6);
  for (int r = 0; r < 3; ++r) w.send(r, 100, 6, r + 1, 100, {.site = 2, .tag = 2});
}

/// A norm: rank 3's part comes to rank 0, which broadcasts the larger one.
void norms(World& w) {
  for (int k = 0; k < 8; ++k) {
    for (const int r : {0, 3}) w.fill(r, 0, 1);
    w.send(3, 0, 1, 0, 1, {.site = 1});
    if (w.words(0, 1, 1)[0] > w.words(0, 0, 1)[0]) w.copy(0, 0, 1, 1);
    for (const int r : {4, 2, 1}) w.send(0, 0, 1, r, 0, {.site = 2});
    w.send(2, 0, 1, 3, 0, {.site = 2});
    w.send(4, 0, 1, 5, 0, {.site = 2});
  }
}

/// The largest of values that are the same everywhere: constants of the machine.
void equal_values_up_a_tree(World& w) {
  constexpr int kMessages[][2] = {{1, 0}, {3, 2}, {2, 0}, {5, 4}, {4, 0}};
  for (const std::int64_t value : {0x3ca0000000000000, 0x3cb0000000000000, 0x0010000000000000}) {
    for (int r = 0; r < w.ranks(); ++r) w.set(r, 0, 1, value);
    for (const auto& [from, to] : kMessages) w.send(from, 0, 1, to, 50, {});
  }
}

/// Sums of one number by recursive doubling, by a program that has told of more parts than belong to them.
void sums_of_one_number(World& w) {
  for (int k = 0; k < 3; ++k) {
    for (int r = 0; r < w.ranks(); ++r)
      for (const std::int64_t at : {0, 50, 60}) {
        w.fill(r, at, 1);
        w.capture(r, at, 1, 70);
      }
    for (int m = 1; m < w.ranks(); m *= 2) {
      std::vector<World::Message> under_way;
      for (int r = 0; r < w.ranks(); ++r) under_way.push_back(w.post(r, 0, 1, r ^ m, {}));
      for (const World::Message& message : under_way) w.receive(message, 100, {});
      for (int r = 0; r < w.ranks(); ++r) w.add(r, 0, 100, 1);
    }
  }
}

}  // namespace

std::vector<Scenario> overconfident_answers() {
  return {
      {"long broadcasts in a row of 16",
       16,
       [](World& w) { LongRow{w}.play(); },
       {{"bcast", world(16), {0, 4, 5, 9, 10, 15}, 6, 6 * 255, "certain"}}},
      {"norms, reduced and broadcast", 6, norms, {{"bcast", world(6), {0}, 8, 40, "certain"}}},
      {"sums of one number, other parts captured",
       4,
       sums_of_one_number,
       {{"allreduce", world(4), {}, 3, 24, "probable", "sum"}}},
      {"negative: the same data again and again", 4, same_data_again_and_again, {}},
      {"negative: coincidence in a wrapper", 4, coincidence_in_a_wrapper, {}},
      {"negative: equal values up a tree", 6, equal_values_up_a_tree, {}},
  };
}

}  // namespace nplus1::detector

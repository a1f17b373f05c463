// What the detector once got wrong on real programs, in small: ScaLAPACK's xdlu, xdqr and xdllt, HPCG, HPL and minisweep.

#include "detector/testing/scenarios.hpp"

namespace nplus1::detector {
namespace {

/// HPL's long broadcast among three: two pieces go out, all three go round. Panels shrink, the owner is another one
/// each time; its last piece lies in the workspace where others' panels were, between their pieces.
void long_broadcasts_from_a_workspace(World& w) {
  constexpr std::int64_t kOwn = 1000;
  for (int k = 0; k < 9; ++k) {
    const std::int64_t length = 40 - 4 * k;
    const int root = k % 3;
    const auto rank = [&](int position) { return (root + position) % 3; };
    const auto place = [&](int position, int piece) {
      return position == 0 && piece < 2 ? kOwn + 100 * piece : length * piece;
    };
    for (int piece = 0; piece < 3; ++piece) w.fill(root, place(0, piece), length);
    for (const int piece : {2, 1})
      w.send(root, place(0, piece), length, rank(piece), place(piece, piece), {.site = 1});
    for (int step = 0; step < 2; ++step) {
      std::vector<World::Message> under_way;
      for (int i = 0; i < 3; ++i)
        under_way.push_back(
            w.post(rank(i), place(i, (i + 3 - step) % 3), length, rank((i + 1) % 3), {.site = 2}));
      for (int i = 0; i < 3; ++i) {
        const int to = (i + 1) % 3;
        w.receive(under_way[static_cast<std::size_t>(i)], place(to, (i + 3 - step) % 3), {.site = 2});
      }
    }
  }
}

/// On a grid of 2 x 2 x 2 everybody is everybody's neighbour: at a face, an edge or the corner.
void small_grid(World& w) {
  for (int k = 0; k < 3; ++k) {
    std::vector<std::pair<World::Message, std::int64_t>> under_way;
    for (int r = 0; r < 8; ++r)
      for (int d = 1; d < 8; ++d) {
        const std::int64_t words = d == 7 ? 1 : (d & (d - 1)) != 0 ? 4 : 16;
        w.fill(r, 20 * d, words);
        under_way.emplace_back(w.post(r, 20 * d, words, r ^ d, {}), 400 + 20 * d);
      }
    for (const auto& [message, at] : under_way) w.receive(message, at, {});
  }
}

/// Everybody scatters to all others at the same time, but some parts are equal.
void scatters_at_once(World& w) {
  for (int r = 0; r < w.ranks(); ++r)
    for (int d = 1; d < w.ranks(); ++d) w.fill(r, 10 * d, 10 - d % 3);
  w.copy(1, 10, 40, 9);
  std::vector<World::Message> under_way;
  for (int r = 0; r < w.ranks(); ++r)
    for (int d = 1; d < w.ranks(); ++d)
      under_way.push_back(w.post(r, 10 * d, 10 - d % 3, (r + d) % w.ranks(), {}));
  std::int64_t at = 500;
  for (const World::Message& m : under_way) w.receive(m, at += 20, {});
}

/// So many empty messages that everybody has heard of everybody, but in no barrier's order.
void empty_messages(World& w) {
  constexpr int kMessages[][2] = {{2, 1}, {0, 3}, {3, 1}, {0, 3}, {2, 1}, {3, 1},
                                  {3, 2}, {1, 0}, {0, 2}, {2, 1}, {0, 3}, {3, 1}};
  for (const auto& [from, to] : kMessages) w.send(from, 0, 0, to, 0, {});
}

/// A library's broadcasts, and thrice as many messages of two, received through the same call.
void broadcasts_beside_messages(World& w) {
  for (int k = 0; k < 20; ++k) {
    const int root = k % 4;
    w.fill(root, 0, 12);
    for (int i = 1; i < 4; ++i) w.receive(w.post(root, 0, 12, (root + i) % 4, {.site = 1}), 50, {.site = 5});
    for (int i = 0; i < 9; ++i) {
      const int from = static_cast<int>(w.random(4));
      w.fill(from, 100, 5);
      w.receive(w.post(from, 100, 5, (from + 1 + static_cast<int>(w.random(3))) % 4, {.site = 2}), 200,
                {.site = 5});
    }
  }
}

/// Broadcasts of one root, two of them of a small number: not one broadcast of everything.
void small_broadcasts(World& w) {
  for (int k = 0; k < 13; ++k) {
    w.fill(0, 0, 2);
    if (k % 6 == 5) w.set(0, 0, 2, 0);
    for (int r = 1; r < 4; ++r) w.send(0, 0, 2, r, 10, {});
  }
}

/// Broadcasts to all, but twice one rank gets something else: those that are left are no group of the program's.
void broadcasts_with_exceptions(World& w) {
  for (int k = 0; k < 16; ++k) {
    w.fill(0, 0, 8);
    for (int r = 1; r < 5; ++r) {
      if (k % 8 == 7 && r == 4) w.fill(0, 0, 8);
      w.send(0, 0, 8, r, 10, {});
    }
  }
}

/// Wavefronts over 2 x 2 ranks, from each corner in turn. Along each axis goes a face, the same on both ranks that send it: the
/// corner's neighbours get one each, and the last rank both.
void wavefronts_from_corners(World& w) {
  constexpr std::int64_t kWords = 32, kReceived = 200;
  for (int step = 0; step < 64; ++step) {
    const int corner = step / 8 % 4;
    for (int face = 0; face < 2; ++face)
      for (int r = 0; r < 4; ++r)
        for (std::int64_t i = 0; i < kWords && ((r ^ corner) >> face & 1) == 0; ++i)
          w.set(r, 100 * face + i, 1, 0x9e3779b97f4a7c15 * (1000 * step + 100 * face + i + 1));
    const auto send = [&](int from, int face) {
      w.send(corner ^ from, 100 * face, kWords, corner ^ from ^ (1 << face), kReceived + 100 * face,
             {.site = 1});
    };
    send(0, 0);
    send(0, 1);
    send(1, 1);
    send(2, 0);
  }
}

}  // namespace

std::vector<Scenario> real_programs() {
  return {
      {"long broadcasts from a workspace",
       3,
       long_broadcasts_from_a_workspace,
       {{"bcast", world(3), world(3), 9, 72, "probable"}}},
      {"broadcasts beside messages, received by one call",
       4,
       broadcasts_beside_messages,
       {{"bcast", world(4), world(4), 20, 60, "certain"}}},
      {"small broadcasts, two of them of zeros",
       4,
       small_broadcasts,
       {{"bcast", world(4), {0}, 11, 33, "certain"}}},
      {"broadcasts with exceptions",
       5,
       broadcasts_with_exceptions,
       {{"bcast", world(5), {0}, 14, 56, "certain"}}},
      {"negative: faces, edges and corners of 2 x 2 x 2", 8, small_grid, {}},
      {"negative: scatters at once", 5, scatters_at_once, {}},
      {"negative: empty messages", 4, empty_messages, {}},
      {"negative: wavefronts from corners", 4, wavefronts_from_corners, {}},
  };
}

}  // namespace nplus1::detector

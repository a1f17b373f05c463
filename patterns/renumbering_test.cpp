#include "patterns/renumbering.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace nplus1::patterns {
namespace {

Topology topology(const char* text, std::size_t ranks) {
  return Topology::parse(text, ranks).value();
}

/// Messages of 1 byte from a to b.
Layer layer_of(std::vector<std::pair<std::int32_t, std::int32_t>> pairs) {
  Layer layer;
  for (const auto& [from, to] : pairs) layer.rows.push_back({from, {{to, 1, 1}}});
  return layer;
}

TEST(Topology, NodesAreOneHopApartAndPlacesOnANodeNone) {
  const Topology nodes = topology("nodes:4", 16);
  EXPECT_EQ(nodes.hops(0, 3), 0U);
  EXPECT_EQ(nodes.hops(3, 4), 1U);
  EXPECT_EQ(nodes.hops(0, 15), 1U);
}

TEST(Topology, ATorusGoesTheShorterWayAround) {
  const Topology torus = topology("torus:4x4x2", 32);
  EXPECT_EQ(torus.hops(0, 1), 1U);   // last dimension
  EXPECT_EQ(torus.hops(0, 6), 1U);   // (0,3,0): around
  EXPECT_EQ(torus.hops(0, 16), 2U);  // (2,0,0): half way
  EXPECT_EQ(torus.hops(0, 21), 5U);  // (2,2,1): the diameter
  for (std::size_t a = 0; a < 32; ++a)
    for (std::size_t b = 0; b < 32; ++b) EXPECT_EQ(torus.hops(a, b), torus.hops(b, a));
}

TEST(Topology, RefusesWhatItCannotRead) {
  for (const char* text : {"", "nodes", "nodes:", "nodes:0", "nodes:-1", "nodes:4x", "torus:4x", "torus:x4",
                           "mesh:4", "torus:99999999999999999999", "torus:2x2"})
    EXPECT_FALSE(Topology::parse(text, 5).ok()) << text;
}

TEST(Renumbering, PartnersThatAreFarApartAreBroughtTogether) {
  // 0-4, 1-5, 2-6, 3-7 on nodes of two: every byte travels; perfectly paired, none does.
  const Layer layer = layer_of({{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  const Topology nodes = topology("nodes:2", 8);
  const auto advice = renumber(layer, 8, nodes);
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->hop_bytes, 4U);
  EXPECT_EQ(advice->hop_bytes_after, 0U);
  EXPECT_EQ(hop_bytes(layer, nodes, advice->place_of_rank), 0U);
}

TEST(Renumbering, IsAPermutation) {
  Layer layer;
  for (std::int32_t r = 0; r < 60; ++r)
    layer.rows.push_back({r, {{(r * 7 + 3) % 60, 2, 10}, {(r * 11 + 30) % 60, 1, 1000}}});
  const Topology torus = topology("torus:4x4x4", 60);
  const auto advice = renumber(layer, 60, torus);
  ASSERT_TRUE(advice.has_value());
  EXPECT_LT(advice->hop_bytes_after, advice->hop_bytes);
  EXPECT_EQ(hop_bytes(layer, torus, advice->place_of_rank), advice->hop_bytes_after);
  const std::set<std::int32_t> places(advice->place_of_rank.begin(), advice->place_of_rank.end());
  EXPECT_EQ(places.size(), 60U);
  EXPECT_EQ(*places.begin(), 0);
  EXPECT_EQ(*places.rbegin(), 59);
}

TEST(Renumbering, IsNotOfferedWhereNothingIsToBeGained) {
  EXPECT_FALSE(renumber(layer_of({{0, 1}, {2, 3}}), 4, topology("nodes:2", 4)).has_value());
  // A ring on a ring is optimal: every neighbour is one hop away.
  EXPECT_FALSE(renumber(layer_of({{0, 1}, {1, 2}, {2, 3}, {3, 0}}), 4, topology("torus:4", 4)).has_value());
}

TEST(Renumbering, AShuffledRingIsUnwound) {
  // The ring visits ranks in steps of 3 (mod 8); on a ring of 8 nodes every byte could travel a single hop.
  std::vector<std::pair<std::int32_t, std::int32_t>> ring;
  for (std::int32_t r = 0; r < 8; ++r) ring.emplace_back(r, (r + 3) % 8);
  const auto advice = renumber(layer_of(ring), 8, topology("torus:8", 8));
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->hop_bytes, 24U);
  EXPECT_EQ(advice->hop_bytes_after, 8U);
}

}  // namespace
}  // namespace nplus1::patterns

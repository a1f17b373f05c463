// Which amounts of work a kind's samples are of: each sample is the logarithm of one of a few values, and of what the
// host added, mostly little.
//
// Noise has an asymmetric Laplace density: it falls off by e over `below` downwards, and over one of several scales
// upwards, the one that fits best. The clusters of the sorted samples are found exactly, by dynamic programming over
// where they end, as those of the least
//
//   - sum over samples log g(x - value of its cluster) - sum over clusters n_k log(n_k / n) + 1.5 K log n
//
// the likelihood of samples and their clusters together, with a penalty for each (value and share would be K log n by
// the Bayesian information criterion; noise that is not quite of that density makes more clusters than there are values). So one broad cluster with a tail stays one, and two values that lie a few scales
// apart are two. Of a cluster's samples, the value is the quantile that is most likely under g: below / (below + scale). More than
// kMostValues clusters are parts of a range of values: then equal parts of it, of 3 % or more, with their medians.
//
// Pure; one thread. Time: n^2 for n samples, of which at most 256 are looked at. Sources: C. Biernacki, G. Celeux,
// G. Govaert, "Assessing a mixture model for clustering with the integrated completed likelihood" (2000); B. Jackson et
// al., "An algorithm for optimal partitioning of data on an interval" (2005).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nplus1::hypothesis::clock {

inline constexpr std::size_t kMostValues = 4;

struct Cluster {
  double value = 0;  // logarithm
  double share = 0;  // of the samples
};

struct Noise {
  double below = 0;               // scale of the density, in logarithms, downwards
  std::span<const double> above;  // and upwards: one of these
};

/// Ascending by value; at least one, at most 24. `sorted`: at least one sample, ascending.
[[nodiscard]] std::vector<Cluster> clusters_of(const std::vector<double>& sorted, const Noise& noise);

}  // namespace nplus1::hypothesis::clock

#include "report/rank_matrix.hpp"

#include <stdexcept>

namespace nplus1::report {

RankMatrix::RankMatrix(std::size_t ranks) : ranks_{ranks} {
  if (dense()) {
    dense_.resize(ranks);
  } else {
    sparse_.resize(ranks);
  }
}

void RankMatrix::check(RankId from, RankId to) const {
  // A negative rank becomes a huge index.
  if (from.index() >= ranks_ || to.index() >= ranks_) {
    throw std::out_of_range{"RankMatrix: rank outside 0.." + std::to_string(ranks_)};
  }
}

void RankMatrix::add(RankId from, RankId to, std::uint64_t amount) {
  check(from, to);
  if (!dense()) {
    sparse_[from.index()][to.value] += amount;
    return;
  }
  auto& row = dense_[from.index()];
  if (row.empty()) row.resize(ranks_);
  row[to.index()] += amount;
}

std::uint64_t RankMatrix::at(RankId from, RankId to) const {
  check(from, to);
  if (dense()) {
    const auto& row = dense_[from.index()];
    return row.empty() ? 0 : row[to.index()];
  }
  const auto& row = sparse_[from.index()];
  const auto found = row.find(to.value);
  return found == row.end() ? 0 : found->second;
}

std::vector<std::uint64_t> RankMatrix::row(RankId from) const {
  std::vector<std::uint64_t> values(ranks_);
  if (dense()) {
    if (!dense_.at(from.index()).empty()) values = dense_[from.index()];
    return values;
  }
  for (const auto& [to, amount] : sparse_.at(from.index())) values[RankId{to}.index()] = amount;
  return values;
}

std::uint64_t RankMatrix::total() const {
  std::uint64_t sum = 0;
  for (const auto& row : dense_) {
    for (const std::uint64_t amount : row) sum += amount;
  }
  for (const auto& row : sparse_) {
    for (const auto& [to, amount] : row) sum += amount;
  }
  return sum;
}

}  // namespace nplus1::report

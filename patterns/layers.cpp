#include "patterns/layers.hpp"

#include <algorithm>
#include <map>

#include "patterns/collective_fans.hpp"

namespace nplus1::patterns {
namespace {

std::vector<std::string> known_layers() {
  std::vector<std::string> names{std::string{kPointToPoint}};
  for (std::size_t kind = 0; kind + 1 < kCollectiveKinds; ++kind)
    names.emplace_back(layer_name(static_cast<CollectiveKind>(kind)));
  names.insert(names.end(), kOneSidedLayers.begin(), kOneSidedLayers.end());
  std::sort(names.begin() + 1, names.end());
  return names;
}

Error unknown(const std::string& name) {
  std::string all = "wire, p2p";
  for (const std::string& known : known_layers())
    if (known != kPointToPoint) all += ", " + known;
  return {"there is no layer '" + name + "'", "choose from all, " + all};
}

/// Both are sorted by key; equal keys are added up.
template <class Item, class Key, class Add>
void merge(std::vector<Item>& into, const std::vector<Item>& from, Key key, Add add) {
  std::vector<Item> result;
  auto a = into.begin();
  for (const Item& item : from) {
    while (a != into.end() && key(*a) < key(item)) result.push_back(std::move(*a++));
    if (a != into.end() && key(*a) == key(item)) {
      add(*a, item);
      result.push_back(std::move(*a++));
    } else {
      result.push_back(item);
    }
  }
  std::move(a, into.end(), std::back_inserter(result));
  into = std::move(result);
}

void add_cells(MatrixRow& into, const MatrixRow& from) {
  merge(
      into.cells, from.cells, [](const Cell& c) { return c.destination; },
      [](Cell& a, const Cell& b) {
        a.messages += b.messages;
        a.bytes += b.bytes;
      });
}

void add_sizes(Sizes& into, const Sizes& from) {
  for (std::size_t b = 0; b < kSizeBuckets; ++b) into.buckets[b] += from.buckets[b];
  merge(
      into.exact, from.exact, [](const auto& size) { return size.first; },
      [](auto& a, const auto& b) { a.second += b.second; });
  into.others += from.others;
  into.sum += from.sum;
  if (from.least) into.least = std::min(into.least.value_or(*from.least), *from.least);
  if (from.most) into.most = std::max(into.most.value_or(*from.most), *from.most);
}

}  // namespace

void add_up(Layer& layer) {
  for (const MatrixRow& row : layer.rows) {
    for (const Cell& cell : row.cells) {
      layer.messages += cell.messages;
      layer.bytes += cell.bytes;
    }
  }
}

void add(Layer& into, const Layer& from) {
  into.messages += from.messages;
  into.bytes += from.bytes;
  merge(
      into.rows, from.rows, [](const MatrixRow& row) { return row.source; }, add_cells);
  add_sizes(into.sizes, from.sizes);
}

Result<std::vector<std::string>> parse_layers(std::string_view text, const Patterns& patterns) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  const auto known = known_layers();
  if (text == kWire) return std::vector{std::string{kWire}};
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string name{text.substr(0, comma)};
    if (name == "p2p") name = kPointToPoint;
    if (name == "all") {
      for (const Layer& layer : patterns.layers) add(layer.name);
    } else if (std::find(known.begin(), known.end(), name) == known.end()) {
      return name == kWire ? Error{"'wire' goes with no other layer: it has their messages in it",
                                   "write --layers wire"}
                           : unknown(name);
    } else {
      add(name);
    }
    if (comma == text.size()) return names;
    text.remove_prefix(comma + 1);
  }
}

Layer combine(const Patterns& patterns, const std::vector<std::string>& names) {
  if (names == std::vector{std::string{kWire}}) return patterns.wire.value_or(patterns.layers.front());
  Layer sum;
  Sizes elements;
  bool all_have_elements = true;
  for (const std::string& name : names) {
    sum.name += (sum.name.empty() ? "" : "+") + name;
    for (const Layer& layer : patterns.layers) {
      if (layer.name != name) continue;
      add(sum, layer);
      all_have_elements = all_have_elements && (layer.elements || layer.messages == 0);
      if (layer.elements) add_sizes(elements, *layer.elements);
    }
  }
  if (all_have_elements) sum.elements = elements;
  return sum;
}

report::RankMatrix matrix_of(const Layer& layer, std::size_t ranks, std::uint64_t Cell::*what) {
  report::RankMatrix matrix{ranks};
  for (const MatrixRow& row : layer.rows)
    for (const Cell& cell : row.cells)
      if (cell.*what > 0) matrix.add(RankId{row.source}, RankId{cell.destination}, cell.*what);
  return matrix;
}

namespace {

/// Distinct other ranks: senders ascend, so a column's sources come in order.
void count_degrees(const Layer& layer, std::vector<RankTotals>& ranks) {
  std::vector<std::vector<std::int32_t>> partners(ranks.size());
  for (const MatrixRow& row : layer.rows) {
    for (const Cell& cell : row.cells) {
      if (cell.destination == row.source) continue;
      const auto from = static_cast<std::size_t>(row.source);
      const auto to = static_cast<std::size_t>(cell.destination);
      ++ranks[from].destinations;
      ++ranks[to].sources;
      partners[from].push_back(cell.destination);
      partners[to].push_back(row.source);
    }
  }
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::sort(partners[r].begin(), partners[r].end());
    const auto end = std::unique(partners[r].begin(), partners[r].end());
    ranks[r].partners = static_cast<std::uint64_t>(end - partners[r].begin());
  }
}

}  // namespace

void add_traffic(const Layer& point_to_point, std::vector<RankTotals>& totals) {
  for (const MatrixRow& row : point_to_point.rows) {
    RankTotals& from = totals[static_cast<std::size_t>(row.source)];
    for (const Cell& cell : row.cells) {
      RankTotals& to = totals[static_cast<std::size_t>(cell.destination)];
      from.messages_sent += cell.messages;
      from.bytes_sent += cell.bytes;
      to.messages_received += cell.messages;
      to.bytes_received += cell.bytes;
    }
  }
  count_degrees(point_to_point, totals);
}

}  // namespace nplus1::patterns

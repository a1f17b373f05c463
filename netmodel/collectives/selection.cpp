#include "netmodel/collectives/selection.hpp"

#include <algorithm>
#include <stdexcept>

#include "netmodel/collectives/algorithms.hpp"
#include "netmodel/specification.hpp"
#include "netmodel/text.hpp"

namespace nplus1::netmodel {
namespace {

constexpr std::string_view kMpich = "mpich";

// clang-format off
constexpr Algorithm kAlgorithms[] = {
#define NPLUS1_ALGORITHM(kind, name, function) {CollectiveKind::kind, name, algorithms::function},
#include "netmodel/collectives/algorithms.inc"
#undef NPLUS1_ALGORITHM
};
// clang-format on

constexpr std::array<std::string_view, kCollectiveKinds> kKindNames{"barrier",
                                                                    "bcast",
                                                                    "gather",
                                                                    "gatherv",
                                                                    "scatter",
                                                                    "scatterv",
                                                                    "allgather",
                                                                    "allgatherv",
                                                                    "alltoall",
                                                                    "alltoallv",
                                                                    "reduce",
                                                                    "allreduce",
                                                                    "reduce_scatter_block",
                                                                    "reduce_scatter",
                                                                    "scan",
                                                                    "exscan",
                                                                    "neighbor_allgather",
                                                                    "neighbor_alltoall",
                                                                    "synchronize"};

std::size_t index_of(CollectiveKind kind) {
  return static_cast<std::size_t>(kind);
}

const Algorithm* find(CollectiveKind kind, std::string_view name) {
  for (const Algorithm& algorithm : algorithms_of(kind)) {
    if (algorithm.name == name) return &algorithm;
  }
  return nullptr;
}

std::string algorithm_names(CollectiveKind kind) {
  return std::string{kMpich} + ", " +
         join(algorithms_of(kind), [](const Algorithm& algorithm) { return std::string{algorithm.name}; });
}

Error unknown_kind(std::string_view name) {
  const std::string known = join(kKindNames, [](std::string_view kind) { return std::string{kind}; });
  return {"unknown collective " + quoted(name), "The collectives are: " + known + "."};
}

Error unknown_algorithm(CollectiveKind kind, std::string_view name) {
  const std::string collective{kind_name(kind)};
  return {collective + " has no algorithm " + quoted(name),
          "The algorithms of " + collective + " are: " + algorithm_names(kind) + "."};
}

}  // namespace

std::span<const Algorithm> all_algorithms() {
  return kAlgorithms;
}

std::span<const Algorithm> algorithms_of(CollectiveKind kind) {
  const auto of_kind = [kind](const Algorithm& algorithm) { return algorithm.kind == kind; };
  const auto* const first = std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms), of_kind);
  const auto* const last = std::find_if_not(first, std::end(kAlgorithms), of_kind);
  return {first, last};
}

std::string_view kind_name(CollectiveKind kind) {
  return kKindNames.at(index_of(kind));
}

Result<Selection> Selection::parse(std::string_view text) {
  Selection selection;
  if (text == kMpich) return selection;
  const Result<Specification> items =
      parse_assignments(text, "collective selection", "bcast=chain,allreduce=ring");
  if (!items) return items.error();
  for (const auto& [kind_text, name] : items.value().values) {
    const auto known = std::find(kKindNames.begin(), kKindNames.end(), kind_text);
    if (known == kKindNames.end()) return unknown_kind(kind_text);
    const auto kind = static_cast<CollectiveKind>(known - kKindNames.begin());
    const Algorithm* const algorithm = find(kind, name);
    if (algorithm == nullptr && name != kMpich) return unknown_algorithm(kind, name);
    selection.override_[index_of(kind)] = algorithm;
  }
  return selection;
}

std::string Selection::describe() const {
  std::string text;
  for (const Algorithm* algorithm : override_) {
    if (algorithm == nullptr) continue;
    if (!text.empty()) text += ',';
    text.append(kind_name(algorithm->kind)).append("=").append(algorithm->name);
  }
  return text.empty() ? std::string{kMpich} : text;
}

const Algorithm& Selection::choose(const CollectiveCall& call) const {
  const Algorithm* const chosen = override_.at(index_of(call.kind));
  if (chosen != nullptr) return *chosen;
  const AppendFunction function = algorithms::mpich_choice(call);
  for (const Algorithm& algorithm : algorithms_of(call.kind)) {
    if (algorithm.append == function) return algorithm;
  }
  throw std::logic_error{"MPICH's choice for " + std::string{kind_name(call.kind)} + " is not registered"};
}

}  // namespace nplus1::netmodel

#include "netmodel/collectives/selection.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "netmodel/collectives/algorithms.hpp"
#include "netmodel/rounding.hpp"
#include "netmodel/specification.hpp"
#include "netmodel/text.hpp"
#include "support/collective_names.hpp"

namespace nplus1::netmodel {
namespace {

/// The first is the default. SimGrid's selectors mpich and ompi stand for the libraries themselves.
constexpr Library kLibraries[] = {
    {"mpich", algorithms::mpich_choice, algorithms::mpich_nonblocking_choice},
    {"openmpi", algorithms::openmpi_choice, algorithms::libnbc_choice},
    {"simgrid:default", algorithms::simgrid_choice, algorithms::simgrid_choice},
    {"simgrid:mpich", algorithms::mpich_choice, algorithms::mpich_nonblocking_choice},
    {"simgrid:ompi", algorithms::openmpi_choice, algorithms::libnbc_choice}};

constexpr Bytes kDefaultSegment = bytes(65536);
constexpr std::string_view kSegment = "segment";
constexpr std::string_view kRanksPerNode = "ranks_per_node";
constexpr std::string_view kReduceRate = "reduce_rate";
constexpr std::string_view kCopyRate = "copy_rate";

// clang-format off
constexpr Algorithm kAlgorithms[] = {
#define NPLUS1_ALGORITHM(kind, name, function) {CollectiveKind::kind, name, algorithms::function},
#include "netmodel/collectives/algorithms.inc"
#undef NPLUS1_ALGORITHM
};
// clang-format on

static_assert(kCollectiveNames.size() == kCollectiveKinds);

std::size_t index_of(CollectiveKind kind) {
  return static_cast<std::size_t>(kind);
}

const Algorithm* find(CollectiveKind kind, std::string_view name) {
  for (const Algorithm& algorithm : algorithms_of(kind)) {
    if (algorithm.name == name) return &algorithm;
  }
  return nullptr;
}

const Library* find_library(std::string_view name) {
  for (const Library& library : kLibraries) {
    if (library.name == name) return &library;
  }
  return nullptr;
}

std::string library_names() {
  return join(kLibraries, [](const Library& library) { return std::string{library.name}; });
}

std::string algorithm_names(CollectiveKind kind) {
  return join(algorithms_of(kind), [](const Algorithm& algorithm) { return std::string{algorithm.name}; });
}

/// A size or a number of ranks: a whole number from 1 to 2^31-1.
Result<std::int64_t> parse_positive(std::string_view key, std::string_view text) {
  const Result<double> number = parse_quantity(text, Quantity::kSize);
  if (!number) return number.error();
  if (number.value() >= 1 && number.value() <= std::numeric_limits<std::int32_t>::max())
    return static_cast<std::int64_t>(number.value());
  return Error{std::string{key} + " is out of range: " + in_quotes(text), "Give 1 to 2147483647."};
}

/// `rate` in bytes per second; 0: in no time.
Duration time_at_rate(Bytes size, double rate) {
  return rate > 0 ? rounded(static_cast<double>(count(size)) / rate) : Duration{};
}

Error unknown_kind(std::string_view name) {
  const std::string known = join(kCollectiveNames, [](std::string_view kind) { return std::string{kind}; });
  return {"unknown collective " + in_quotes(name),
          "The collectives are: " + known +
              "; non-blocking forms begin with i; the parameters: segment, ranks_per_node, "
              "reduce_rate, copy_rate."};
}

Error unknown_library(std::string_view name) {
  return {"no MPI library " + in_quotes(name) + " to choose algorithms",
          "The libraries are: " + library_names() + "; algorithms are given as bcast=chain,allreduce=ring."};
}

Error unknown_algorithm(CollectiveKind kind, std::string_view name) {
  const std::string collective{kind_name(kind)};
  return {collective + " has no algorithm " + in_quotes(name),
          "The algorithms of " + collective + " are: " + algorithm_names(kind) +
              "; or the choice of a library: " + library_names() + "."};
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
  return kCollectiveNames.at(index_of(kind));
}

Selection::Selection() : segment_{kDefaultSegment} {
  follow(kLibraries[0]);
}

void Selection::follow(const Library& library) {
  library_ = &library;
  picks_.fill({.library = &library});
  nonblocking_.fill({.library = &library});
}

std::optional<Error> Selection::pick(CollectiveKind kind, std::string_view name, bool nonblocking) {
  const Algorithm* const algorithm = find(kind, name);
  const Library* const library = algorithm == nullptr ? find_library(name) : nullptr;
  if (algorithm == nullptr && library == nullptr) return unknown_algorithm(kind, name);
  nonblocking_[index_of(kind)] = {library, algorithm};
  if (!nonblocking) picks_[index_of(kind)] = {library, algorithm};
  return std::nullopt;
}

std::optional<Error> Selection::set(std::string_view key, std::string_view value) {
  if (key == kSegment || key == kRanksPerNode) {
    const Result<std::int64_t> number = parse_positive(key, value);
    if (!number) return number.error();
    if (key == kSegment)
      segment_ = bytes(number.value());
    else
      ranks_per_node_ = static_cast<std::int32_t>(number.value());
    return std::nullopt;
  }
  if (key == kReduceRate || key == kCopyRate) {
    const Result<double> rate = parse_quantity(value, Quantity::kBandwidth);
    if (!rate) return rate.error();
    (key == kReduceRate ? reduce_rate_ : copy_rate_) = rate.value();
    return std::nullopt;
  }
  const auto find_kind = [](std::string_view name) {
    return std::find(kCollectiveNames.begin(), kCollectiveNames.end(), name);
  };
  const bool nonblocking = key.starts_with('i') && find_kind(key.substr(1)) != kCollectiveNames.end();
  const auto known = find_kind(nonblocking ? key.substr(1) : key);
  if (known == kCollectiveNames.end()) return unknown_kind(key);
  return pick(static_cast<CollectiveKind>(known - kCollectiveNames.begin()), value, nonblocking);
}

Result<Selection> Selection::parse(std::string_view text) {
  Selection selection;
  const std::string_view first = text.substr(0, text.find(','));
  if (!first.empty() && first.find('=') == std::string_view::npos) {
    const Library* const library = find_library(first);
    if (library == nullptr) return unknown_library(first);
    selection.follow(*library);
    if (first.size() == text.size()) return selection;
    text.remove_prefix(first.size() + 1);
    if (text.empty()) return Error{"nothing follows the comma", "Write e.g. openmpi,bcast=chain."};
  }
  const Result<Specification> items =
      parse_assignments(text, "collective selection", "bcast=chain,allreduce=ring");
  if (!items) return items.error();
  for (const auto& [key, value] : items.value().values) {
    if (const auto error = selection.set(key, value)) return *error;
  }
  return selection;
}

std::string Selection::describe() const {
  std::string text;
  const auto add = [&text](std::string_view key, std::string_view value) {
    if (!text.empty()) text += ',';
    text.append(key).append("=").append(value);
  };
  if (library_ != &kLibraries[0]) text = library_->name;
  const auto name_of = [](const Pick& pick) {
    return pick.algorithm != nullptr ? pick.algorithm->name : pick.library->name;
  };
  for (std::size_t k = 0; k < picks_.size(); ++k) {
    const bool named = picks_[k] != Pick{.library = library_};
    if (named) add(kCollectiveNames[k], name_of(picks_[k]));
    if (nonblocking_[k] != picks_[k])
      add(std::string{"i"}.append(kCollectiveNames[k]), name_of(nonblocking_[k]));
  }
  if (segment_ != kDefaultSegment) add(kSegment, std::to_string(count(segment_)));
  if (ranks_per_node_ != 1) add(kRanksPerNode, std::to_string(ranks_per_node_));
  if (reduce_rate_ > 0) add(kReduceRate, format_number(reduce_rate_));
  if (copy_rate_ > 0) add(kCopyRate, format_number(copy_rate_));
  return text.empty() ? std::string{library_->name} : text;
}

CollectiveCall Selection::tuned(const CollectiveCall& call) const {
  CollectiveCall tuned = call;
  tuned.segment = segment_;
  tuned.ranks_per_node = ranks_per_node_;
  return tuned;
}

Duration Selection::combining(Bytes size) const {
  return time_at_rate(size, reduce_rate_);
}

Duration Selection::copying(const CollectiveCall& call) const {
  const Bytes own = copy_rate_ > 0 ? own_copy(call) : Bytes{};
  if (count(own) == 0) return {};
  const AppendFunction chosen = call.members > 1 ? choose(call).append : nullptr;
  const bool by_message = chosen == algorithms::alltoall_scattered || chosen == algorithms::alltoall_linear;
  return time_at_rate(by_message ? own + own : own, copy_rate_);
}

const Algorithm& Selection::choose(const CollectiveCall& call) const {
  const Pick& pick = (call.blocking ? picks_ : nonblocking_).at(index_of(call.kind));
  if (pick.algorithm != nullptr) return *pick.algorithm;
  const Library& library = *pick.library;
  const AppendFunction function = call.blocking ? library.choose(call) : library.choose_nonblocking(call);
  for (const Algorithm& algorithm : algorithms_of(call.kind)) {
    if (algorithm.append == function) return algorithm;
  }
  throw std::logic_error{std::string{pick.library->name}.append("'s choice for ") +
                         std::string{kind_name(call.kind)} + " is not registered"};
}

}  // namespace nplus1::netmodel

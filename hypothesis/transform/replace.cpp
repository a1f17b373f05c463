#include "hypothesis/transform/replace.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "events/mpi_call.hpp"
#include "hypothesis/transform/instances.hpp"
#include "hypothesis/transform/messages.hpp"

namespace nplus1::hypothesis::transform {
namespace {

using events::EventKind;
using events::MpiCall;

struct KeyHash {
  std::size_t operator()(const MessageKey& k) const {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(k.source) * 0x9e3779b97f4a7c15U) ^
                                    (k.sent * 0xbf58476d1ce4e5b9U));
  }
};

struct Name {
  CollectiveKind kind;
  std::string_view name;
  MpiCall call;
};
constexpr Name kNames[] = {
    {CollectiveKind::kBarrier, "barrier", MpiCall::MPI_Barrier},
    {CollectiveKind::kBcast, "bcast", MpiCall::MPI_Bcast},
    {CollectiveKind::kGather, "gather", MpiCall::MPI_Gather},
    {CollectiveKind::kScatter, "scatter", MpiCall::MPI_Scatter},
    {CollectiveKind::kAllgather, "allgather", MpiCall::MPI_Allgather},
    {CollectiveKind::kAlltoall, "alltoall", MpiCall::MPI_Alltoall},
    {CollectiveKind::kReduce, "reduce", MpiCall::MPI_Reduce},
    {CollectiveKind::kAllreduce, "allreduce", MpiCall::MPI_Allreduce},
    {CollectiveKind::kReduceScatterBlock, "reduce_scatter_block", MpiCall::MPI_Reduce_scatter_block},
    {CollectiveKind::kScan, "scan", MpiCall::MPI_Scan},
    {CollectiveKind::kExscan, "exscan", MpiCall::MPI_Exscan}};

class Replacement final : public Transform {
 public:
  Replacement(std::vector<CollectiveInstance> instances, std::uint32_t first_comm)
      : instances_{std::move(instances)}, first_comm_{first_comm} {
    for (std::size_t i = 0; i < instances_.size(); ++i)
      for (const MessageKey& key : instances_[i].messages) of_message_.emplace(key, i);
  }
  Replacement(MessageSelector selector, InstanceRule rule, std::string where, std::string nothing,
              std::uint32_t first_comm)
      : selector_{std::move(selector)},
        rule_{rule},
        where_{std::move(where)},
        nothing_{std::move(nothing)},
        first_comm_{first_comm} {}

  [[nodiscard]] events::EventSink* survey() override { return &survey_; }
  [[nodiscard]] Result<Done> surveyed() override;

 private:
  /// Where a rank calls an instance's collective.
  struct Place {
    std::uint64_t ordinal;
    std::size_t instance;
  };

  void found(const MessageCalls& message);
  void place(const MessageCalls& message);
  using Offers = std::map<std::pair<std::int32_t, std::size_t>, std::uint64_t>;  // by rank and instance
  void offer(std::int32_t rank, std::size_t instance, std::uint64_t ordinal, bool earliest,
             Offers* offers = nullptr);
  [[nodiscard]] Result<Done> order();
  void restart() override;
  void change(RankId rank, std::uint64_t ordinal, Call& call) override;
  [[nodiscard]] bool keeps_match(RankId receiver, const events::Answer& match) override;
  [[nodiscard]] Call collective(const CollectiveInstance& instance, std::uint32_t comm,
                                const events::Event& at) const;

  std::vector<CollectiveInstance> instances_;
  std::unordered_map<MessageKey, std::size_t, KeyHash> of_message_;
  std::optional<MessageSelector> selector_;
  InstanceRule rule_;
  std::string where_ = "replace";
  std::string nothing_ = "replace: none of the messages is in the recording";
  std::uint32_t first_comm_;
  MessageSurvey survey_{[this](const MessageCalls& m) { found(m); }};

  // What the survey found.
  std::vector<MessageCalls> messages_;
  Marks gone_;
  Offers offers_;
  Offers last_resort_;                                 // of members that only receive
  std::map<std::int32_t, std::vector<Place>> places_;  // by rank, in its order
  std::vector<std::uint32_t> comm_of_;                 // by instance
  std::map<std::vector<RankId>, std::uint32_t> comms_;

  // Of a pass.
  std::map<std::int32_t, std::size_t> next_;
  std::unordered_set<std::uint64_t> unmatched_;
  GoneRequests requests_;
};

void Replacement::found(const MessageCalls& m) {
  const bool wanted = selector_ ? selector_->matches({m.source, m.send_site}, {m.destination, m.receive_site},
                                                     m.tag, m.comm, m.size)
                                : of_message_.contains({m.source, m.sent});
  if (wanted) messages_.push_back(m);
}

Result<Done> Replacement::surveyed() {
  survey_.finish();
  if (messages_.empty()) return Error{nothing_, ""};
  for (const MessageCalls& m : messages_)
    if (m.posted == MessageCalls::kNone)
      return Error{where_ + ": a message from rank " + std::to_string(m.source) + " to " +
                       std::to_string(m.destination) + " is never received",
                   "select messages that are"};
  if (selector_) {
    auto cut = cut_into_instances(messages_, rule_);
    if (!cut) return Error{where_ + ": " + cut.error().what, cut.error().remedy};
    instances_ = std::move(cut).value();
    for (std::size_t i = 0; i < instances_.size(); ++i)
      for (const MessageKey& key : instances_[i].messages) of_message_.emplace(key, i);
  }
  for (CollectiveInstance& instance : instances_) {
    const auto kind = replaceable(instance.kind);
    if (!kind || instance.ranks.size() < 2)
      return Error{where_ + ": messages cannot be replaced by this operation",
                   "name a collective on two ranks or more that is not a neighbourhood's"};
    instance.kind = *kind;
    const bool rooted = spreads(*kind) || collects(*kind);
    if (rooted && !instance.root) return Error{where_ + ": an operation lacks its root", "name a root"};
  }
  for (const MessageCalls& m : messages_) place(m);
  messages_ = {};
  of_message_ = {};
  return order();
}

/// What becomes of the message's calls.
void Replacement::place(const MessageCalls& m) {
  const std::size_t i = of_message_.at({m.source, m.sent});
  gone_.set(m.source, m.sent);
  gone_.set(m.destination, m.posted);
  for (const std::uint64_t probe : m.probes) gone_.set(m.destination, probe);
  // Who polls is ready for the collective when it first looks.
  std::uint64_t received = m.completed == MessageCalls::kNone ? m.posted : m.completed;
  if (!m.probes.empty()) received = std::min(received, m.probes.front());
  const CollectiveInstance& instance = instances_[i];
  const bool source_is_root = instance.root == m.source;
  const bool destination_is_root = instance.root == m.destination;
  if (spreads(instance.kind)) {
    if (source_is_root) offer(m.source, i, m.sent, true);
    if (!destination_is_root) offer(m.destination, i, received, true);
  } else if (collects(instance.kind)) {
    if (!source_is_root) offer(m.source, i, m.sent, false);
    if (destination_is_root) offer(m.destination, i, received, false);
  } else {
    offer(m.source, i, m.sent, true);
    offer(m.destination, i, received, true, &last_resort_);
  }
}

void Replacement::offer(std::int32_t rank, std::size_t instance, std::uint64_t ordinal, bool earliest,
                        Offers* offers) {
  const auto [at, first] = (offers == nullptr ? offers_ : *offers).try_emplace({rank, instance}, ordinal);
  if (!first) at->second = earliest ? std::min(at->second, ordinal) : std::max(at->second, ordinal);
}

/// Puts each rank's collectives in order, and sees that all members of a group have the same.
Result<Done> Replacement::order() {
  for (const CollectiveInstance& instance : instances_) {
    const auto id = static_cast<std::uint32_t>(first_comm_ + comms_.size());
    comm_of_.push_back(comms_.try_emplace(instance.ranks, id).first->second);
  }
  offers_.merge(last_resort_);
  for (const auto& [of, ordinal] : offers_) places_[of.first].push_back({ordinal, of.second});
  offers_ = last_resort_ = {};
  std::map<std::uint32_t, std::vector<std::size_t>> orders;  // of the first member that was looked at
  for (auto& [rank, places] : places_) {
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.ordinal < b.ordinal; });
    std::map<std::uint32_t, std::vector<std::size_t>> mine;
    for (const Place& p : places) mine[comm_of_[p.instance]].push_back(p.instance);
    for (auto& [comm, order_of_comm] : mine)
      if (orders.try_emplace(comm, order_of_comm).first->second != order_of_comm)
        return Error{where_ + ": rank " + std::to_string(rank) +
                         " would call the collectives in another order than others, or not all of them",
                     "select the messages of one operation, with roots that do not overlap"};
  }
  return Done{};
}

void Replacement::restart() {
  next_.clear();
  unmatched_.clear();
  requests_.clear();
  for (const auto& [ranks, id] : comms_) next().on_communicator({CommId{id}, ranks, 0});
}

void Replacement::change(RankId rank, std::uint64_t ordinal, Call& call) {
  loosen_matched(call);
  const events::Event at = call.event;
  if (const auto places = places_.find(rank.value); places != places_.end()) {
    std::size_t& next_place = next_[rank.value];
    for (; next_place < places->second.size() && places->second[next_place].ordinal <= ordinal;
         ++next_place) {
      const std::size_t instance = places->second[next_place].instance;
      before().push_back(collective(instances_[instance], comm_of_[instance], at));
    }
  }
  const bool goes = gone_.has(rank, ordinal) || requests_.all_that_is_waited_for(rank, call);
  requests_.note(rank, at, goes);
  if (!goes) return;
  if (at.kind == EventKind::kIrecv)
    unmatched_.insert(static_cast<std::uint64_t>(rank.index()) << 32U | at.request.value);
  call.remove();
}

bool Replacement::keeps_match(RankId receiver, const events::Answer& match) {
  return unmatched_.erase(static_cast<std::uint64_t>(receiver.index()) << 32U | match.request.value) == 0;
}

Call Replacement::collective(const CollectiveInstance& instance, std::uint32_t comm,
                             const events::Event& at) const {
  Call call;
  events::Event& event = call.event;
  event.kind = EventKind::kCollective;
  event.thread = at.thread;
  event.site = at.site;
  event.comm = CommId{comm};
  event.operation = static_cast<std::uint8_t>(instance.kind);
  event.size = instance.bytes;
  event.peer = -1;
  for (const Name& name : kNames)
    if (name.kind == instance.kind) event.call = static_cast<std::uint16_t>(name.call);
  if (instance.root) {
    const auto root = std::find(instance.ranks.begin(), instance.ranks.end(), RankId{*instance.root});
    event.peer = static_cast<std::int32_t>(root - instance.ranks.begin());
  }
  return call;
}

}  // namespace

std::optional<CollectiveKind> replaceable(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kGatherv:
      return CollectiveKind::kGather;
    case CollectiveKind::kScatterv:
      return CollectiveKind::kScatter;
    case CollectiveKind::kAllgatherv:
      return CollectiveKind::kAllgather;
    case CollectiveKind::kAlltoallv:
      return CollectiveKind::kAlltoall;
    default:
      break;
  }
  for (const Name& name : kNames)
    if (name.kind == kind) return kind;
  return std::nullopt;
}

std::unique_ptr<Transform> make_replacement(std::vector<CollectiveInstance> instances,
                                            std::uint32_t first_free_comm) {
  return std::make_unique<Replacement>(std::move(instances), first_free_comm);
}

Result<std::unique_ptr<Transform>> make_replace(const Step& step, const events::DefinitionsCollector& names) {
  auto selector = MessageSelector::of(step, names);
  if (!selector) return selector.error();
  InstanceRule rule;
  const std::string* with = step.find("with");
  const auto* name = std::find_if(std::begin(kNames), std::end(kNames),
                                  [&](const Name& n) { return with != nullptr && n.name == *with; });
  if (name == std::end(kNames)) {
    std::string known;
    for (const Name& n : kNames) known.append(known.empty() ? "" : ", ").append(n.name);
    return bad_setting(step, "with", "one of: " + known);
  }
  rule.kind = name->kind;
  for (const char* key : {"root", "instances", "bytes", "fewest"}) {
    if (step.find(key) == nullptr) continue;
    const auto value = key[0] == 'b' ? parse_bytes(step, key, {}) : parse_integer(step, key, {});
    if (!value) return value.error();
    if (key[0] == 'r') rule.root = static_cast<std::int32_t>(value.value());
    if (key[0] == 'b') rule.bytes = value.value();
    if (key[0] == 'f') rule.fewest = static_cast<std::size_t>(std::max<std::int64_t>(value.value(), 2));
    if (key[0] == 'i') rule.instances = static_cast<std::uint64_t>(value.value());
  }
  if (const std::string* contents = step.find("contents"); contents != nullptr) {
    if (*contents != "same" && *contents != "different")
      return bad_setting(step, "contents", "'same' or 'different': what the messages must be");
    rule.contents = *contents == "same" ? Contents::kSame : Contents::kDifferent;
  }
  if (const std::string* prompt = step.find("prompt"); prompt != nullptr) {
    if (*prompt != "yes" && *prompt != "no")
      return bad_setting(step, "prompt", "'yes' (members do no more than combine what they pass on) or 'no'");
    rule.prompt = *prompt == "yes";
  }
  if (rule.instances == std::uint64_t{0}) return bad_setting(step, "instances", "1 or more");
  const std::uint32_t free =
      names.communicators().empty() ? 1 : names.communicators().rbegin()->first.value + 1;
  return std::unique_ptr<Transform>{std::make_unique<Replacement>(
      std::move(selector).value(), rule, step.where,
      step.where + ": '" + step.text() + "' is about no message in the recording", free)};
}

}  // namespace nplus1::hypothesis::transform

#include "hypothesis/transform/instances.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace nplus1::hypothesis::transform {
namespace {

using Messages = std::vector<const MessageCalls*>;

/// The messages of each group: connected parts, by union-find.
std::vector<Messages> groups_of(const std::vector<MessageCalls>& messages) {
  std::map<std::int32_t, std::int32_t> parent;
  const auto find = [&parent](std::int32_t rank) {
    while (parent.try_emplace(rank, rank).first->second != rank) rank = parent[rank] = parent[parent[rank]];
    return rank;
  };
  for (const MessageCalls& m : messages) parent[find(m.source)] = find(m.destination);
  std::map<std::int32_t, Messages> groups;
  for (const MessageCalls& m : messages) groups[find(m.source)].push_back(&m);
  std::vector<Messages> all;
  for (auto& [root, group] : groups) all.push_back(std::move(group));
  return all;
}

/// Numbers the messages that `end` says have something in common, in the order of `place`.
template <class Of, class Place>
std::map<const MessageCalls*, std::uint64_t> numbered(Messages messages, const Of& of, const Place& place) {
  std::sort(messages.begin(), messages.end(),
            [&](const MessageCalls* a, const MessageCalls* b) { return place(*a) < place(*b); });
  std::map<decltype(of(*messages.front())), std::uint64_t> next;
  std::map<const MessageCalls*, std::uint64_t> numbers;
  for (const MessageCalls* m : messages) numbers[m] = next[of(*m)]++;
  return numbers;
}

Error uneven(const std::string& why) {
  return {"the messages do not make whole operations: " + why,
          "select those of one operation more closely (tag, sites, ranks), or say instances=N"};
}

/// Of operations on all members: each pair's messages, in as many equal parts as there are instances.
Result<std::map<const MessageCalls*, std::uint64_t>> by_pairs(const Messages& group,
                                                              const InstanceRule& rule) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint64_t> counts;
  std::set<std::int32_t> ranks;
  for (const MessageCalls* m : group) {
    ++counts[{m->source, m->destination}];
    ranks.insert({m->source, m->destination});
  }
  const std::uint64_t first = counts.begin()->second;
  const bool even =
      counts.size() == ranks.size() * (ranks.size() - 1) &&
      std::all_of(counts.begin(), counts.end(), [&](const auto& c) { return c.second == first; });
  if (!rule.instances && !even) return uneven("pairs of ranks exchange different numbers of messages");
  const std::uint64_t instances = rule.instances ? *rule.instances : first;
  for (const auto& [pair, count] : counts)
    if (count % instances != 0)
      return uneven(std::to_string(count) + " messages from rank " + std::to_string(pair.first) + " to " +
                    std::to_string(pair.second) + " cannot be shared by " + std::to_string(instances));
  auto numbers = numbered(
      group,
      [](const MessageCalls& m) {
        return std::pair{m.source, m.destination};
      },
      [](const MessageCalls& m) { return m.sent; });
  for (auto& [message, number] : numbers)
    number /= counts.at({message->source, message->destination}) / instances;
  return numbers;
}

Result<std::map<const MessageCalls*, std::uint64_t>> numbers_of(const Messages& group,
                                                                const InstanceRule& rule) {
  if (spreads(rule.kind))
    return numbered(
        group, [](const MessageCalls& m) { return m.destination; },
        [](const MessageCalls& m) { return m.posted; });
  if (collects(rule.kind))
    return numbered(
        group, [](const MessageCalls& m) { return m.source; }, [](const MessageCalls& m) { return m.sent; });
  return by_pairs(group, rule);
}

/// One member's block where inner messages may hold several; else the whole vector.
std::int64_t size_of(CollectiveKind kind, const Messages& messages) {
  std::int64_t smallest = messages.front()->size;
  std::int64_t largest = 0;
  for (const MessageCalls* m : messages) {
    smallest = std::min(smallest, m->size);
    largest = std::max(largest, m->size);
  }
  switch (kind) {
    case CollectiveKind::kBarrier:
      return 0;
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
    case CollectiveKind::kAllgather:
    case CollectiveKind::kReduceScatterBlock:
      return smallest;
    default:
      return largest;
  }
}

/// The member that does not receive (of a broadcast), or does not send (of a reduction).
std::optional<std::int32_t> root_of(const CollectiveInstance& instance, const Messages& messages) {
  std::optional<std::int32_t> root;
  for (const RankId rank : instance.ranks) {
    const bool touched = std::any_of(messages.begin(), messages.end(), [&](const MessageCalls* m) {
      return (spreads(instance.kind) ? m->destination : m->source) == rank.value;
    });
    if (touched) continue;
    if (root) return std::nullopt;
    root = rank.value;
  }
  return root;
}

/// A member that sends before it has received all that comes to it, or in the same call: its message passes nothing on.
std::optional<std::int32_t> sends_too_early(const Messages& messages) {
  std::map<std::int32_t, std::uint64_t> received;  // by rank: the last
  for (const MessageCalls* m : messages)
    if (m->completed != MessageCalls::kNone) {
      std::uint64_t& last = received[m->destination];
      last = std::max(last, m->completed);
    }
  for (const MessageCalls* m : messages)
    if (const auto last = received.find(m->source); last != received.end() && m->sent <= last->second)
      return m->source;
  return std::nullopt;
}

/// How long combining what was received with one's own may take, or copying it.
Duration combining(std::int64_t bytes) {
  constexpr double kCall = 5e-6, kByte = 4e-9;  // seconds
  return from_seconds(kCall + kByte * static_cast<double>(bytes));
}

/// A member that works with what it has received before it sends: that is a stage of a pipeline.
std::optional<std::int32_t> works_in_between(const Messages& messages) {
  std::map<std::int32_t, const MessageCalls*> received;  // by rank: the last
  for (const MessageCalls* m : messages) {
    const MessageCalls*& last = received[m->destination];
    if (last == nullptr || m->computed_received > last->computed_received) last = m;
  }
  for (const MessageCalls* m : messages)
    if (const auto last = received.find(m->source);
        last != received.end() && m->computed_sent - last->second->computed_received > combining(m->size))
      return m->source;
  return std::nullopt;
}

std::optional<Error> complete(CollectiveInstance& instance, const Messages& messages,
                              const InstanceRule& rule) {
  instance.bytes = rule.bytes ? *rule.bytes : size_of(rule.kind, messages);
  for (const MessageCalls* m : messages) instance.messages.push_back({m->source, m->sent});
  if (!spreads(rule.kind) && !collects(rule.kind)) return std::nullopt;
  if (messages.size() + 1 != instance.ranks.size())
    return uneven(std::to_string(messages.size()) + " messages among " +
                  std::to_string(instance.ranks.size()) + " ranks");
  instance.root = root_of(instance, messages);
  if (!instance.root) return uneven("no rank is the root");
  if (const auto early = sends_too_early(messages))
    return uneven("rank " + std::to_string(*early) +
                  " sends before it has received, so it passes nothing on");
  if (const auto works = rule.prompt ? works_in_between(messages) : std::nullopt)
    return uneven("rank " + std::to_string(*works) +
                  " computes between what it receives and what it sends on");
  // Blocks of different ranks that are passed on: each rank's own, and no part of what a root scatters.
  if (rule.contents == Contents::kDifferent && rule.kind == CollectiveKind::kScatter)
    for (const MessageCalls* m : messages)
      if (m->source != *instance.root) return uneven("not all of them come from one root");
  if (rule.root && rule.root != instance.root)
    return uneven("the root is rank " + std::to_string(*instance.root));
  return std::nullopt;
}

/// Whether the recording knows that two of the messages have sent different things.
bool differ(const Messages& messages) {
  std::uint64_t content = 0;
  for (const MessageCalls* m : messages) {
    if (m->content == 0) continue;
    if (content != 0 && content != m->content) return true;
    content = m->content;
  }
  return false;
}

}  // namespace

bool spreads(CollectiveKind kind) {
  return kind == CollectiveKind::kBcast || kind == CollectiveKind::kScatter;
}

bool collects(CollectiveKind kind) {
  return kind == CollectiveKind::kReduce || kind == CollectiveKind::kGather;
}

Result<std::vector<CollectiveInstance>> cut_into_instances(const std::vector<MessageCalls>& messages,
                                                           const InstanceRule& rule) {
  std::vector<CollectiveInstance> all;
  bool different = false;
  for (const Messages& group : groups_of(messages)) {
    const auto numbers = numbers_of(group, rule);
    if (!numbers) return numbers.error();
    std::set<std::int32_t> members;
    std::map<std::uint64_t, Messages> instances;
    for (const auto& [message, number] : numbers.value()) {
      members.insert({message->source, message->destination});
      instances[number].push_back(message);
    }
    if (members.size() < rule.fewest)
      return uneven(std::to_string(members.size()) + " ranks make a group of their own");
    for (const auto& [number, of_instance] : instances) {
      const bool differs = differ(of_instance);
      if (differs && rule.contents == Contents::kSame)
        return Error{"the messages of one operation are not all the same",
                     "name an operation that gives each member its own, or leave out contents=same"};
      different = different || differs;
      CollectiveInstance instance;
      instance.kind = rule.kind;
      for (const std::int32_t rank : members) instance.ranks.emplace_back(rank);
      if (const auto wrong = complete(instance, of_instance, rule)) return *wrong;
      all.push_back(std::move(instance));
    }
  }
  if (rule.contents == Contents::kDifferent && !different)
    return Error{"the messages of each operation are all the same",
                 "name an operation that gives all members the same, or leave out contents=different"};
  return all;
}

}  // namespace nplus1::hypothesis::transform

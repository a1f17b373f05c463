#include "detector/ring_reduction.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace nplus1::detector {
namespace {

constexpr std::size_t kNobody = ~std::size_t{0};
constexpr unsigned kOfSimpleNumber = 8;  // bits: 0, 1, 0.5, ...

/// Who sends to whom, and what, in the order of sending; each member only to its successor.
struct Ring {
  std::vector<std::size_t> order;                     // members, each before its successor
  std::vector<std::vector<const Transfer*>> sent_by;  // by place in `order`
};

std::optional<Ring> ring_of(const Case& c) {
  const std::size_t p = c.members();
  std::vector<std::size_t> next(p, kNobody);
  std::vector<std::vector<const Transfer*>> sent(p);
  for (std::size_t i = 0; i < c.list.size(); ++i) {
    const Transfer& t = c.at(i);
    if (t.captured()) continue;
    const std::size_t from = c.data.member(t.source);
    const std::size_t to = c.data.member(t.destination);
    if (next[from] != kNobody && next[from] != to) return std::nullopt;
    next[from] = to;
    sent[from].push_back(&t);
  }
  Ring ring;
  for (std::size_t m = 0; ring.order.size() < p; m = next[m]) {
    if (m == kNobody || std::ranges::find(ring.order, m) != ring.order.end()) return std::nullopt;
    ring.order.push_back(m);
    std::ranges::sort(sent[m], {}, &Transfer::sent_at);
    ring.sent_by.push_back(std::move(sent[m]));
  }
  return next[ring.order.back()] == ring.order.front() ? std::optional{std::move(ring)} : std::nullopt;
}

/// Block b starts at place b and is what place b + s sends in step s.
const Transfer& hop(const Ring& ring, std::size_t block, std::size_t step) {
  return *ring.sent_by[(block + step) % ring.order.size()][step];
}

/// How often a block was another one after a rank had had it on its first round, and how often not.
struct Changes {
  std::size_t changed = 0;
  std::size_t stayed = 0;
};

/// Each block is as long all the way, is sent on after it has come, and is not changed on its second round. Nothing if
/// that is not so.
std::optional<Changes> goes_round(const Ring& ring, std::size_t steps) {
  const std::size_t p = ring.order.size();
  Changes changes;
  for (std::size_t b = 0; b < p; ++b)
    for (std::size_t s = 1; s < steps; ++s) {
      const Transfer& before = hop(ring, b, s - 1);
      const Transfer& after = hop(ring, b, s);
      const bool same = before.content == after.content;
      if (before.content.bytes != after.content.bytes || before.received_at > after.sent_at ||
          (s >= p && !same))
        return std::nullopt;
      if (s < p) ++(same ? changes.stayed : changes.changed);
    }
  return changes;
}

/// Whether every rank has the blocks one beside the other in the same way: a vector of all blocks, wherever it lies.
bool lies_as_a_vector(const Ring& ring) {
  const std::size_t p = ring.order.size();
  const auto place = [&](std::size_t at, std::size_t block) {
    return static_cast<std::int64_t>(ring.sent_by[at][(at + p - block) % p]->source_place());
  };
  // Of a vector with block 0 at 0, as place 0 and, for the one block that that does not send, place 1 have it.
  std::vector<std::int64_t> offset(p);
  for (std::size_t b = 0; b < p; ++b)
    if (b != 1) offset[b] = place(0, b) - place(0, 0);
  offset[1] = place(1, 1) - place(1, 0);
  std::map<std::int64_t, std::uint64_t> blocks;
  for (std::size_t b = 0; b < p; ++b) blocks[offset[b]] = hop(ring, b, 0).content.bytes;
  if (blocks.size() < p) return false;
  for (auto b = blocks.begin(); std::next(b) != blocks.end(); ++b)
    if (b->first + static_cast<std::int64_t>(b->second) > std::next(b)->first) return false;
  for (std::size_t at = 0; at < p; ++at)
    for (std::size_t b = 0; b < p; ++b)
      if (b != (at + 1) % p && b != at &&
          (place(at, b) == 0 || place(at, b) - place(at, at) != offset[b] - offset[at]))
        return false;
  return true;
}

/// The operands that show, and those that follow from what came and what went if it was added.
struct Numbers {
  long double lowest = 0;
  long double highest = 0;
  struct Step {  // of all blocks
    std::vector<long double> before;
    std::vector<long double> after;
  };
  std::vector<Step> steps;
  bool grows = true;
  bool shrinks = true;
  std::size_t changes = 0;
  bool stays = false;  // a number was passed on as it came
  std::size_t operands = 0;
  std::size_t zeros = 0;  // of them, so simple that they prove nothing
};

std::optional<Numbers> numbers_of(const Ring& ring, std::size_t hops) {
  Numbers n;
  n.steps.resize(hops);
  bool first = true;
  for (std::size_t b = 0; b < ring.order.size(); ++b) {
    std::vector<long double> before;
    for (std::size_t s = 0; s < hops; ++s) {
      const auto after = some_elements(hop(ring, b, s).content);
      if (after.empty() || (s > 0 && after.size() != before.size())) return std::nullopt;
      for (std::size_t e = 0; e < after.size(); ++e) {
        if (s == 0) {
          n.lowest = first ? after[e] : std::min(n.lowest, after[e]);
          n.highest = first ? after[e] : std::max(n.highest, after[e]);
          first = false;
          ++n.operands;
          if (significant_bits(static_cast<double>(after[e])) <= kOfSimpleNumber) ++n.zeros;
          continue;
        }
        n.steps[s].before.push_back(before[e]);
        n.steps[s].after.push_back(after[e]);
        if (after[e] != before[e]) ++n.changes;
        n.grows = n.grows && after[e] >= before[e];
        n.shrinks = n.shrinks && after[e] <= before[e];
        n.stays = n.stays || (after[e] == before[e] &&
                              significant_bits(static_cast<double>(after[e])) > kOfSimpleNumber);
      }
      before = after;
    }
  }
  return n;
}

/// How far apart they are, on average.
long double spread(std::vector<long double> numbers) {
  if (numbers.empty()) return 0;
  std::ranges::sort(numbers);
  const long double middle = numbers[numbers.size() / 2];
  long double sum = 0;
  for (const long double v : numbers) sum += std::abs(v - middle);
  return sum / static_cast<long double>(numbers.size());
}

/// Bits for a sum: what would have been added lies in the range of the operands that show, or hardly outside of it, where
/// the differences of what came and what went with other blocks do less often. A number that stays was not added to;
/// and what is changed a little each time was not added to such numbers.
double proof_of_sum(const Numbers& n) {
  constexpr double kInRange = 0.98;
  const long double wider = (n.highest - n.lowest) / 8;
  const auto fits = [&](long double d) { return d != 0 && d >= n.lowest - wider && d <= n.highest + wider; };
  double bits = 0;
  std::vector<long double> differences;
  for (const Numbers::Step& s : n.steps) {
    std::size_t fitting = 0;
    std::size_t others = 0;
    for (std::size_t i = 0; i < s.before.size(); ++i)
      for (std::size_t k = 0; k < s.after.size(); ++k) {
        if (i == k) continue;
        ++others;
        fitting += fits(s.after[k] - s.before[i]) ? 1U : 0U;
      }
    if (others == 0) continue;
    const double by_accident =
        std::clamp(static_cast<double>(fitting) / static_cast<double>(others), 0.02, kInRange);
    for (std::size_t i = 0; i < s.before.size(); ++i) {
      differences.push_back(s.after[i] - s.before[i]);
      bits += std::log2(fits(differences.back()) ? kInRange / by_accident
                                                 : (1 - kInRange) / (1 - by_accident + 1e-9));
    }
  }
  return n.highest > n.lowest && spread(differences) > (n.highest - n.lowest) / 16 ? bits : 0;
}

/// Messages that hashes prove to be a combination made by their sender.
std::size_t proved_combinations(const Case& c) {
  std::size_t proved = 0;
  for (std::size_t i = 0; i < c.list.size(); ++i)
    proved += std::ranges::any_of(c.data.segments(i),
                                  [&](const Segment& s) {
                                    const Origin& origin = c.data.origins()[s.origin];
                                    return origin.operations != 0 &&
                                           c.is_origin(c.data.member(c.at(i).source), origin);
                                  })
                  ? 1U
                  : 0U;
  return proved;
}

}  // namespace

Judge ring_reduction(const Case& c) {
  const std::size_t p = c.members();
  const std::size_t messages = messages_of_others(c);
  const bool all = messages == 2 * p * (p - 1);
  if (!all && messages != p * (p - 1)) return std::nullopt;
  const auto ring = ring_of(c);
  const std::size_t steps = messages / p;
  if (!ring || std::ranges::any_of(ring->sent_by, [&](const auto& sent) { return sent.size() != steps; }))
    return std::nullopt;
  const auto changes = goes_round(*ring, steps);
  if (!changes || changes->changed == 0 || !lies_as_a_vector(*ring)) return std::nullopt;
  const auto numbers = numbers_of(*ring, all ? p : p - 1);
  if (!numbers) return std::nullopt;
  const bool telling = 2 * numbers->zeros < numbers->operands;
  const bool extreme = numbers->stays && telling && (numbers->grows || numbers->shrinks);
  // Mostly nothing is larger than the largest of many; other operations change everything.
  if (changes->changed <= changes->stayed && !extreme) return std::nullopt;

  constexpr double kOfAnAddress = 8;
  const auto explained = static_cast<double>(p * (p - 1)) - static_cast<double>(2 * p - 1);
  std::uint64_t largest = 0;
  std::uint64_t smallest = ~std::uint64_t{0};
  std::uint64_t sum = 0;
  for (std::size_t b = 0; b < p; ++b) {
    const std::uint64_t bytes = hop(*ring, b, 0).content.bytes;
    largest = std::max(largest, bytes);
    smallest = std::min(smallest, bytes);
    sum += bytes;
  }
  Verdict v = c.verdict(all                   ? CollectiveKind::kAllreduce
                        : smallest == largest ? CollectiveKind::kReduceScatterBlock
                                              : CollectiveKind::kReduceScatter,
                        all ? sum : largest);
  const double of_sum = proof_of_sum(*numbers);
  v.certainty = Certainty::kProbable;
  v.proof = explained * kOfAnAddress;
  v.evidence = {"the blocks of one vector go round, and change at each rank" +
                std::string{all ? "; then they go round once more, unchanged" : ""}};
  constexpr double kEnough = 2;
  // Where most numbers are 0, sums and largest numbers are the same now and then.
  const auto proved = c.data.operation();
  if (proved && 10 * proved_combinations(c) >= 9 * changes->changed) {
    v.operation = proved;
    v.proof += c.data.proof(c.list);
    v.evidence.push_back(std::string{"hashes prove that values were combined ("} + name(*proved) + ")");
  } else if (extreme) {
    v.operation = numbers->grows ? Operation::kMax : Operation::kMin;
    v.proof += static_cast<double>(numbers->changes);
    v.evidence.emplace_back("each number stays what it was or is replaced by a larger (smaller) one");
  } else if (of_sum > kEnough && telling) {
    v.operation = Operation::kSum;
    v.proof += of_sum;
    v.evidence.emplace_back("what would have been added is as large as the operands that were sent");
    v.alternatives.emplace_back("another operation: the ranks' own operands are in no message");
  } else {
    v.certainty = Certainty::kPossible;
    v.alternatives.emplace_back(
        "a pipeline that works on the blocks: with which operation is not to be seen");
  }
  return v;
}

}  // namespace nplus1::detector

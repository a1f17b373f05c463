#include "detector/signals.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>

namespace nplus1::detector {
namespace {

/// Whether every exit comes after every entry: what each member has heard of, directly or not.
bool everybody_hears_of_everybody(const Case& c) {
  std::vector<Members> heard(c.members(), Members(c.members()));
  for (std::size_t m = 0; m < c.members(); ++m) heard[m][m] = true;
  std::vector<Members> in_flight(c.list.size());
  for (const auto& [place, half] : halves_of(c)) {
    const Transfer& t = c.at(half / 2);
    if (half % 2 == 0)
      in_flight[half / 2] = heard[c.data.member(t.source)];
    else
      unite(heard[c.data.member(t.destination)], in_flight[half / 2]);
  }
  return std::ranges::all_of(
      heard, [](const Members& m) { return std::ranges::all_of(m, [](bool b) { return b; }); });
}

/// The same neighbour again: a barrier passes a token round twice, all others of its algorithms never do that.
bool repeats_messages(const Case& c) {
  const std::size_t p = c.members();
  std::vector<std::size_t> sends(p * p);
  for (std::size_t i = 0; i < c.list.size(); ++i)
    ++sends[c.data.member(c.at(i).source) * p + c.data.member(c.at(i).destination)];
  const std::size_t most = std::ranges::max(sends);
  const auto pairs =
      static_cast<std::size_t>(std::ranges::count_if(sends, [](std::size_t n) { return n > 0; }));
  return most > 2 || (most == 2 && pairs > p);
}

/// Whether the messages go to the ranks at distances of powers of two, as many to each distance: dissemination, or
/// exchanges with the rank whose number differs in one bit.
bool are_at_powers_of_two(const Case& c) {
  const std::size_t p = c.members();
  const auto rounds = static_cast<std::size_t>(std::bit_width(p - 1));
  if (c.list.size() != p * rounds) return false;
  std::array<std::vector<std::size_t>, 3> to;  // forwards, backwards, by bits
  for (std::size_t i = 0; i < c.list.size(); ++i) {
    const std::size_t a = c.data.member(c.at(i).source);
    const std::size_t b = c.data.member(c.at(i).destination);
    to[0].push_back((b + p - a) % p);
    to[1].push_back((a + p - b) % p);
    to[2].push_back(a ^ b);
  }
  return std::ranges::any_of(to, [&](const std::vector<std::size_t>& distances) {
    for (std::size_t d = 1; d < p; d *= 2)
      if (std::ranges::count(distances, d) != static_cast<std::ptrdiff_t>(p)) return false;
    return true;
  });
}

/// Whether all goes up a tree, and then down the same.
bool goes_up_and_down_a_tree(const Case& c) {
  if (c.list.size() != 2 * (c.members() - 1)) return false;
  return std::ranges::all_of(c.list, [&](TransferIndex i) {
    const Transfer& t = c.transfers.all[i];
    return std::ranges::any_of(c.list, [&](TransferIndex k) {
      const Transfer& back = c.transfers.all[k];
      return back.source == t.destination && back.destination == t.source;
    });
  });
}

/// Whether each message is sent by who has received the last one: a token.
bool is_one_after_the_other(const Case& c) {
  for (std::size_t i = 1; i < c.list.size(); ++i)
    if (c.at(i).source != c.at(i - 1).destination || c.at(i).sent_at < c.at(i - 1).received_at) return false;
  return true;
}

/// Bits for a barrier, which its messages say nothing of: so many messages between random ranks, in random order, are
/// one of its algorithms' once in 2^bits. Of all sequences of m messages among p ranks, (p (p - 1))^m, there are p^(p-1)
/// (p - 1)!^2 at most that go up a tree and down again; m! orders of the messages to the distances 1, 2, 4, ..., of
/// which there are three kinds; and as a token they leave a choice of one rank each time. On three ranks the
/// distances are everybody's neighbours, and where all send to all nothing is proved.
double proof_of_circle(const Case& c) {
  const std::size_t p = c.members();
  const std::size_t m = c.list.size();
  if (m == p * (p - 1)) return 0;
  const double all = static_cast<double>(m) * std::log2(static_cast<double>(p * (p - 1)));
  double fitting = all;
  if (goes_up_and_down_a_tree(c))
    fitting = static_cast<double>(p - 1) * std::log2(static_cast<double>(p)) + 2 * log2_of_factorial(p - 1);
  else if (are_at_powers_of_two(c))
    fitting = log2_of_factorial(m) + std::log2(3.0);
  else if (is_one_after_the_other(c))
    fitting =
        std::log2(static_cast<double>(p)) + static_cast<double>(m) * std::log2(static_cast<double>(p - 1));
  return std::max(0.0, all - fitting);
}

Judge barrier(const Case& c) {
  constexpr std::uint64_t kLongestSignal = 8;
  const std::size_t p = c.members();
  const std::size_t most =
      std::max({2 * p, p * static_cast<std::size_t>(std::bit_width(p - 1)), p * (p - 1)});
  const std::uint64_t longest = longest_message(c);
  if (longest > kLongestSignal || c.list.size() > most) return std::nullopt;
  if (repeats_messages(c) || !everybody_hears_of_everybody(c)) return std::nullopt;
  Verdict v = c.verdict(CollectiveKind::kBarrier, 0);
  v.proof = proof_of_circle(c);
  v.evidence.emplace_back("nobody leaves before everybody has entered");
  if (longest == 0) return v;
  const bool same = std::ranges::all_of(
      c.list, [&](TransferIndex i) { return c.transfers.all[i].content == c.at(0).content; });
  v.payload = c.at(0).content.key();
  v.certainty = same && longest == 1 ? Certainty::kProbable : Certainty::kPossible;
  v.evidence.emplace_back("the messages are not empty, but carry the same small number");
  v.alternatives.emplace_back("allreduce (min, max, or) of a flag that was the same everywhere");
  if (v.certainty == Certainty::kPossible)
    v.alternatives.emplace_back("an exchange of flags that are equal by accident");
  return v;
}

/// One rank sends the same constant from one buffer to each other member, once. Its content proves nothing, as any member
/// could have had it by itself (a signal, a size that all know): never more than possible.
Judge constant_broadcast(const Case& c) {
  if (c.list.size() + 1 != c.members()) return std::nullopt;
  const Transfer& first = c.at(0);
  std::set<std::int32_t> reached;
  for (std::size_t i = 0; i < c.list.size(); ++i) {
    const Transfer& t = c.at(i);
    if (t.captured() || t.content.bytes == 0 || t.source != first.source || t.content != first.content ||
        t.source_buffer != first.source_buffer || !reached.insert(t.destination).second)
      return std::nullopt;
  }
  Verdict v = c.verdict(CollectiveKind::kBcast, first.content.bytes);
  v.roots = {first.source};
  v.proof = 0;
  v.certainty = Certainty::kPossible;
  v.evidence.emplace_back("one rank sent the same constant from the same place to all others");
  v.alternatives.emplace_back("a signal, or a number that the others knew already");
  return v;
}

}  // namespace

Judge signals(const Case& c) {
  if (Judge found = barrier(c)) return found;
  return constant_broadcast(c);
}

}  // namespace nplus1::detector

// The part of Mailbox that any-source receives and probes need: candidates, decisions, and the receives that
// wait behind an undecided one.
#include <algorithm>

#include "semantics/mailbox.hpp"
#include "semantics/mailbox_index.hpp"

namespace nplus1::semantics {
namespace {

/// Probes may ask for ever new tags: beyond so many choices, those without receives are forgotten now and then.
constexpr std::size_t kManyChoices = 64;

}  // namespace

Mailbox::Index& Mailbox::index() {
  if (!index_) index_ = std::make_unique<Index>();
  return *index_;
}

Mailbox::Choice& Mailbox::choice(std::uint64_t comm, std::int32_t tag) {
  Index& all = index();
  if (Choice* known = all.find(comm, tag)) return *known;
  if (all.choices.size() >= kManyChoices && all.choices.size() >= 2 * all.fronts.size())
    forget_idle_choices();
  Choice& made = all.choices
                     .emplace(std::piecewise_construct, std::forward_as_tuple(comm, tag),
                              std::forward_as_tuple(comm, tag, std::ref<std::pmr::memory_resource>(all.pool)))
                     .first->second;
  for (Channel& c : channels_)
    if (c.source != kAnySource && c.comm == comm && c.messages.head != kNil) set_first(made, c);
  return made;
}

void Mailbox::forget_idle_choices() {
  std::erase_if(index_->choices, [](const auto& entry) { return entry.second.receives.empty(); });
}

/// The choices that `message` belongs to.
template <class Visit>
void Mailbox::each_choice_of(const Message& message, Visit visit) {
  if (Choice* same = index_->find(message.comm, message.tag)) visit(*same);
  if (Choice* any = index_->find(message.comm, kAnyTag)) visit(*any);
}

/// A message has come to the end of its channel.
void Mailbox::appeared(const Message& message, Node node) {
  each_choice_of(message, [&](Choice& k) {
    const auto [entry, is_first] = k.of_source.try_emplace(
        message.source.value, Choice::Key{visible(message), message.source, message.sequence, node});
    if (!is_first) return;
    k.firsts.insert(entry->second);
    set_ready(k);
  });
}

/// A message is gone from its channel, or its time has changed.
void Mailbox::vanished(Channel& c, const Message& message, Node node) {
  each_choice_of(message, [&](Choice& k) {
    const auto entry = k.of_source.find(message.source.value);
    if (entry == k.of_source.end() || entry->second.node != node ||
        entry->second.sequence != message.sequence)
      return;
    k.firsts.erase(entry->second);
    k.of_source.erase(entry);
    set_first(k, c);
  });
}

void Mailbox::set_first(Choice& k, Channel& c) {
  const Node node = first_message(c, k.tag);
  if (node != kNil) {
    const Message& m = message_nodes_[node].message;
    const Choice::Key key{visible(m), m.source, m.sequence, node};
    k.of_source.insert_or_assign(m.source.value, key);
    k.firsts.insert(key);
  }
  set_ready(k);
}

/// Its front receive or its first message has changed.
void Mailbox::set_ready(Choice& k) {
  std::optional<Choice::Ready> now;
  if (!k.receives.empty() && !k.firsts.empty()) {
    const auto& [order, receive] = *k.receives.begin();
    now = {std::max(k.firsts.begin()->at, receive.posted), order};
  }
  if (now == k.ready) return;
  if (k.ready) index_->ready.erase({*k.ready, &k});
  if (now) index_->ready.emplace(*now, &k);
  k.ready = now;
}

void Mailbox::post_undecided(const Receive& receive) {
  Choice& k = choice(receive.comm, receive.tag);
  const std::uint64_t order = next_order_++;
  if (k.receives.empty()) index_->fronts.emplace(order, &k);
  k.receives.emplace_hint(k.receives.end(), order, receive);
  index_->by_id.insert_or_assign(receive.id, std::pair{&k, order});
  ++undecided_;
  ++waiting_receives_;
  if (k.receives.size() == 1) set_ready(k);
}

/// The choice with a receive from any source that was posted before `order` and may take `message`.
Mailbox::Choice* Mailbox::holder(const Message& message, std::uint64_t order) {
  if (undecided_ == 0) return nullptr;
  Choice* found = nullptr;
  looked_at_ += 2;
  each_choice_of(message, [&](Choice& k) {
    if (k.holds_back(order)) found = &k;
  });
  return found;
}

/// Whether a named receive posted before `order` and still without message could take `message`.
bool Mailbox::named_earlier(Channel& c, const Message& message, std::uint64_t order) {
  const Node node = first_receive(c, message.tag);
  return node != kNil && receive_nodes_[node].order < order;
}

/// Whether a named receive posted at `order` must leave `message` to an earlier receive. If that is one from any
/// source, its decision will find it.
bool Mailbox::hold(Channel& c, const Message& message, std::uint64_t order) {
  if (Choice* k = holder(message, order)) {
    k->held.emplace(order, c.source.value);
    return true;
  }
  return named_earlier(c, message, order);
}

/// The earliest message that an any-source receive posted at `order` could take; of each source only the
/// first compatible one counts (non-overtaking), and none that a named receive posted before may still take.
const Message* Mailbox::best(const Choice& k, std::uint64_t order) {
  for (const Choice::Key& key : k.firsts) {
    const Message& m = message_nodes_[key.node].message;
    ++looked_at_;
    if (!named_earlier(*lookup(k.comm, key.source), m, order)) return &m;
  }
  return nullptr;
}

/// Of a choice only its front receive counts: the later ones have the same messages to take.
std::optional<Candidate> Mailbox::candidate() {
  if (undecided_ == 0) return std::nullopt;
  std::optional<Candidate> earliest;
  Choice::Ready reached{};
  const auto consider = [&](const Choice& k, bool first) {
    const auto& [order, receive] = *k.receives.begin();
    const Message* m = best(k, order);
    if (m == nullptr) return;
    const Choice::Ready meet{first ? visible(*m) : std::max(visible(*m), receive.posted), order};
    if (earliest && reached < meet) return;
    reached = meet;
    earliest = Candidate{receive.id, m->source, m->sequence, meet.first};
  };
  const Choice& first = *index_->fronts.begin()->second;
  consider(first, true);
  for (const auto& [ready, k] : index_->ready) {
    ++looked_at_;
    if (earliest && reached < ready) break;
    if (k != &first) consider(*k, false);
  }
  return earliest;
}

void Mailbox::decide(const Candidate& candidate, std::vector<Match>& settled) {
  const auto found = index().by_id.find(candidate.receive_id);
  if (found == index_->by_id.end()) return;
  const auto [choice, order] = found->second;
  const Receive receive = choice->receives.at(order);
  std::optional<Message> message = take(receive.comm, candidate.source, candidate.sequence);
  if (!message) return;
  settled.push_back({receive, *message});
  // The source's next message may be for a receive that waits, whatever holds back the one that was decided.
  if (lookup(receive.comm, candidate.source)->receives.head != kNil)
    choice->held.emplace(order, candidate.source.value);
  remove_undecided(*choice, order, settled);
}

/// Removes a receive from any source, and lets go what waited for it.
void Mailbox::remove_undecided(Choice& k, std::uint64_t order, std::vector<Match>& settled) {
  index_->by_id.erase(k.receives.at(order).id);
  const bool was_front = k.receives.begin()->first == order;
  if (was_front) index_->fronts.erase(order);
  k.receives.erase(order);
  if (was_front && !k.receives.empty()) index_->fronts.emplace(k.receives.begin()->first, &k);
  --undecided_;
  --waiting_receives_;
  set_ready(k);
  if (k.held.empty()) return;
  std::vector<std::int32_t> sources;
  const std::uint64_t comm = k.comm;
  while (!k.held.empty() && !k.holds_back(k.held.begin()->first)) {
    sources.push_back(k.held.begin()->second);
    k.held.erase(k.held.begin());
  }
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  for (const std::int32_t source : sources)
    if (Channel* c = lookup(comm, RankId{source})) settle(*c, settled);
}

/// Gives `node` its message if nobody earlier may take it.
bool Mailbox::settle_one(Channel& c, Node node, std::vector<Match>& settled) {
  ++looked_at_;
  const Node message = first_message(c, receive_nodes_[node].receive.tag);
  if (message == kNil || hold(c, message_nodes_[message].message, receive_nodes_[node].order)) return false;
  const Receive receive = remove_receive(c, node);
  settled.push_back({receive, remove_message(c, message)});
  return true;
}

void Mailbox::settle(Channel& c, std::vector<Match>& settled) {
  int passed = 0;
  for (Node node = c.receives.head; node != kNil && c.messages.head != kNil && !sorts_receives(c);) {
    const Node next = receive_nodes_[node].next;
    settle_one(c, node, settled);
    node = next;
    if (++passed > kFew && node != kNil) sort_receives(c);
  }
  if (sorts_receives(c)) settle_sorted(c, settled);
}

/// The same among many: of each tag only the first receive counts until it has its message, because the next one
/// would take the same.
void Mailbox::settle_sorted(Channel& c, std::vector<Match>& settled) {
  std::set<std::pair<std::uint64_t, Node>> firsts;  // of each tag, by order of posting
  const auto add_first = [&](std::int32_t tag) {
    if (c.sorted == kNil || !sorted_[c.sorted]->sorts_receives) return;
    const Node node = Sorted::first(sorted_[c.sorted]->receives, tag);
    if (node != kNil) firsts.emplace(receive_nodes_[node].order, node);
  };
  const Sorted::ByTag& all = sorted_[c.sorted]->receives;
  for (auto it = all.begin(); it != all.end();) {
    ++looked_at_;
    firsts.emplace(it->first.second, it->second);
    it = all.upper_bound({it->first.first, ~std::uint64_t{0}});
  }
  while (!firsts.empty() && c.messages.head != kNil) {
    const Node node = firsts.begin()->second;
    firsts.erase(firsts.begin());
    const std::int32_t tag = receive_nodes_[node].receive.tag;
    if (settle_one(c, node, settled))
      add_first(tag);
    else if (tag == kAnyTag)
      return;  // it may take whatever later ones would
  }
}

const Message* Mailbox::peek(std::uint64_t comm, RankId source, std::int32_t tag) {
  if (source == kAnySource) {
    for (const Choice::Key& key : choice(comm, tag).firsts) {
      const Message& m = message_nodes_[key.node].message;
      ++looked_at_;
      if (holder(m, next_order_) == nullptr && !named_earlier(*lookup(comm, key.source), m, next_order_))
        return &m;
    }
    return nullptr;
  }
  Channel* c = lookup(comm, source);
  if (c == nullptr) return nullptr;
  const Node node = first_message(*c, tag);
  if (node == kNil) return nullptr;
  const Message& m = message_nodes_[node].message;
  return holder(m, next_order_) != nullptr || named_earlier(*c, m, next_order_) ? nullptr : &m;
}

}  // namespace nplus1::semantics

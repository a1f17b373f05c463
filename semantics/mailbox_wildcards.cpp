// The part of Mailbox that any-source receives and probes need: candidates, decisions, and the receives that
// wait behind an undecided one.
#include <algorithm>

#include "semantics/mailbox.hpp"
#include "semantics/mailbox_index.hpp"

namespace nplus1::semantics {
namespace {

bool tags_match(std::int32_t wanted, std::int32_t tag) {
  return wanted == kAnyTag || wanted == tag;
}

}  // namespace

Mailbox::Index& Mailbox::index() {
  if (index_) return *index_;
  index_ = std::make_unique<Index>();
  for (const Channel& c : channels_) {
    for (Node node = c.messages.head; node != kNil; node = message_nodes_[node].next) {
      const Message& m = message_nodes_[node].message;
      index_->keys.insert({visible(m), m.source, m.sequence, node});
    }
  }
  return *index_;
}

void Mailbox::post_undecided(const Receive& receive) {
  undecided_.push_back({receive, next_order_++, kNil});
  ++waiting_receives_;
}

/// Whether a receive posted before `order` and still without message could take `message`.
bool Mailbox::wanted_earlier(const Channel& c, const Message& message, std::uint64_t order) const {
  for (const ReceiveNode& w : undecided_) {
    if (w.order >= order) break;
    if (w.receive.comm == message.comm && tags_match(w.receive.tag, message.tag)) return true;
  }
  for (Node node = c.receives.head; node != kNil && receive_nodes_[node].order < order;
       node = receive_nodes_[node].next)
    if (tags_match(receive_nodes_[node].receive.tag, message.tag)) return true;
  return false;
}

/// The earliest message that an any-source receive posted at `order` could take; of each source only the
/// first compatible one counts (non-overtaking), and none that a named receive posted before may still take.
const Message* Mailbox::best(std::uint64_t comm, std::int32_t tag, std::uint64_t order) {
  for (const Index::Key& key : index().keys) {
    const Message& m = message_nodes_[key.node].message;
    if (m.comm != comm || !tags_match(tag, m.tag)) continue;
    const Channel& c = *lookup(comm, m.source);
    if (first_message(c, tag).second != key.node) continue;
    bool wanted = false;
    for (Node node = c.receives.head; node != kNil && receive_nodes_[node].order < order && !wanted;
         node = receive_nodes_[node].next)
      wanted = tags_match(receive_nodes_[node].receive.tag, m.tag);
    if (!wanted) return &m;
  }
  return nullptr;
}

std::optional<Candidate> Mailbox::candidate() {
  std::optional<Candidate> earliest;
  const Receive* previous = nullptr;
  for (const ReceiveNode& w : undecided_) {
    const bool same =
        previous != nullptr && previous->comm == w.receive.comm && previous->tag == w.receive.tag;
    const bool first = previous == nullptr;
    previous = &w.receive;
    if (same) continue;  // the one posted before has the same choice
    const Message* m = best(w.receive.comm, w.receive.tag, w.order);
    if (m == nullptr) continue;
    const Time meet = first ? visible(*m) : std::max(visible(*m), w.receive.posted);
    if (!earliest || meet < earliest->at) earliest = Candidate{w.receive.id, m->source, m->sequence, meet};
  }
  return earliest;
}

void Mailbox::decide(const Candidate& candidate, std::vector<Match>& settled) {
  const auto it = std::find_if(undecided_.begin(), undecided_.end(),
                               [&](const ReceiveNode& w) { return w.receive.id == candidate.receive_id; });
  if (it == undecided_.end()) return;
  const Receive receive = it->receive;
  std::optional<Message> message = take(receive.comm, candidate.source, candidate.sequence);
  if (!message) return;
  undecided_.erase(it);
  --waiting_receives_;
  settled.push_back({receive, *message});
  settle(settled);
}

void Mailbox::settle(std::vector<Match>& settled) {
  std::erase_if(held_channels_, [&](const std::pair<std::uint64_t, RankId>& key) {
    Channel* c = lookup(key.first, key.second);
    if (c == nullptr) return true;
    settle(*c, settled);
    return c->messages.head == kNil || c->receives.head == kNil;
  });
}

void Mailbox::settle(Channel& c, std::vector<Match>& settled) {
  Node previous = kNil;
  for (Node node = c.receives.head; node != kNil;) {
    const Node next = receive_nodes_[node].next;
    const auto [before, message] = first_message(c, receive_nodes_[node].receive.tag);
    if (message != kNil && !wanted_earlier(c, message_nodes_[message].message, receive_nodes_[node].order)) {
      const Receive receive = remove_receive(c, previous, node);
      settled.push_back({receive, remove_message(c, before, message)});
    } else {
      previous = node;
    }
    node = next;
  }
}

const Message* Mailbox::peek(std::uint64_t comm, RankId source, std::int32_t tag) {
  if (source == kAnySource) {
    for (const Index::Key& key : index().keys) {
      const Message& m = message_nodes_[key.node].message;
      if (m.comm != comm || !tags_match(tag, m.tag)) continue;
      const Channel& c = *lookup(comm, m.source);
      if (first_message(c, tag).second == key.node && !wanted_earlier(c, m, next_order_)) return &m;
    }
    return nullptr;
  }
  const Channel* c = lookup(comm, source);
  if (c == nullptr) return nullptr;
  const Node node = first_message(*c, tag).second;
  if (node == kNil || wanted_earlier(*c, message_nodes_[node].message, next_order_)) return nullptr;
  return &message_nodes_[node].message;
}

}  // namespace nplus1::semantics

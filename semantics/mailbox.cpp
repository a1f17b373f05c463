#include "semantics/mailbox.hpp"

#include <algorithm>

#include "semantics/mailbox_index.hpp"
#include "support/prefetch.hpp"

namespace nplus1::semantics {
namespace {

/// So many lie in few enough cache lines to ask for all, not knowing which will be wanted.
constexpr std::size_t kFewReceives = 8;

bool tags_match(std::int32_t wanted, std::int32_t tag) {
  return wanted == kAnyTag || wanted == tag;
}

std::size_t hash(std::uint64_t comm, RankId source) {
  const std::uint64_t mixed = (comm * 0x9e3779b97f4a7c15U + source.index()) * 0xd6e8feb86659fd93U;
  return static_cast<std::size_t>(mixed >> 32U);
}

/// Takes a node from the free list or makes one.
template <class Nodes, class Node>
Node allocate(Nodes& nodes, Node& free, Node nil) {
  if (free == nil) {
    nodes.emplace_back();
    return static_cast<Node>(nodes.size() - 1);
  }
  const Node node = free;
  free = nodes[node].next;
  return node;
}

template <class Nodes, class List, class Node>
void append(Nodes& nodes, List& list, Node node, Node nil) {
  nodes[node].next = nil;
  if (list.tail == nil)
    list.head = node;
  else
    nodes[list.tail].next = node;
  list.tail = node;
}

template <class Nodes, class List, class Node>
void unlink(Nodes& nodes, List& list, Node previous, Node node, Node nil) {
  const Node next = nodes[node].next;
  if (previous == nil)
    list.head = next;
  else
    nodes[previous].next = next;
  if (list.tail == node) list.tail = previous;
}

}  // namespace

Mailbox::Mailbox(Duration announcement) : announcement_{announcement} {}
Mailbox::Mailbox(Mailbox&&) noexcept = default;
Mailbox& Mailbox::operator=(Mailbox&&) noexcept = default;
Mailbox::~Mailbox() = default;

std::optional<Message> Mailbox::post(const Receive& receive) {
  Channel& c = channel(receive.comm, receive.source);
  const auto [previous, node] = first_message(c, receive.tag);
  if (node == kNil) {
    keep(c, receive);
    return std::nullopt;
  }
  if (!undecided_.empty() && wanted_earlier(c, message_nodes_[node].message, next_order_)) {
    keep(c, receive);
    held_channels_.emplace_back(c.comm, c.source);
    return std::nullopt;
  }
  ++next_order_;
  return remove_message(c, previous, node);
}

std::optional<Receive> Mailbox::arrive(const Message& message) {
  Channel& c = channel(message.comm, message.source);
  const auto [previous, node] = first_receive(c, message.tag);
  if (node == kNil) {
    keep(c, message);
    return std::nullopt;
  }
  const ReceiveNode& taker = receive_nodes_[node];
  const bool held = !undecided_.empty() && (wanted_earlier(c, message, taker.order) ||
                                            first_message(c, taker.receive.tag).second != kNil);
  if (held) {
    keep(c, message);
    held_channels_.emplace_back(c.comm, c.source);
    return std::nullopt;
  }
  return remove_receive(c, previous, node);
}

std::optional<Message> Mailbox::take(std::uint64_t comm, RankId source, std::uint64_t sequence) {
  Channel* c = lookup(comm, source);
  if (c == nullptr) return std::nullopt;
  const auto [previous, node] = message_by_sequence(*c, sequence);
  if (node == kNil) return std::nullopt;
  return remove_message(*c, previous, node);
}

const Message* Mailbox::find(std::uint64_t comm, RankId source, std::uint64_t sequence) const {
  const Channel* c = lookup(comm, source);
  if (c == nullptr) return nullptr;
  const Node node = message_by_sequence(*c, sequence).second;
  return node == kNil ? nullptr : &message_nodes_[node].message;
}

bool Mailbox::update(const Message& message) {
  Channel* c = lookup(message.comm, message.source);
  if (c == nullptr) return false;
  const Node node = message_by_sequence(*c, message.sequence).second;
  if (node == kNil) return false;
  Message& kept = message_nodes_[node].message;
  if (index_) index_->keys.erase({visible(kept), kept.source, kept.sequence, node});
  kept.at = message.at;
  kept.rendezvous = message.rendezvous;
  kept.user = message.user;
  if (index_) index_->keys.insert({visible(kept), kept.source, kept.sequence, node});
  return true;
}

bool Mailbox::cancel(std::uint64_t receive_id, std::vector<Match>& settled) {
  for (auto it = undecided_.begin(); it != undecided_.end(); ++it) {
    if (it->receive.id != receive_id) continue;
    undecided_.erase(it);
    --waiting_receives_;
    settle(settled);
    return true;
  }
  for (Channel& c : channels_) {
    Node previous = kNil;
    for (Node node = c.receives.head; node != kNil; previous = node, node = receive_nodes_[node].next) {
      if (receive_nodes_[node].receive.id != receive_id) continue;
      remove_receive(c, previous, node);
      settle(settled);
      return true;
    }
  }
  return false;
}

// ---- channels -------------------------------------------------------------------------------------------

Mailbox::Channel* Mailbox::lookup(std::uint64_t comm, RankId source) {
  if (channels_.empty()) return nullptr;
  const std::size_t mask = channels_.size() - 1;
  for (std::size_t at = hash(comm, source) & mask; channels_[at].source != kAnySource; at = (at + 1) & mask)
    if (channels_[at].source == source && channels_[at].comm == comm) return &channels_[at];
  return nullptr;
}

const Mailbox::Channel* Mailbox::lookup(std::uint64_t comm, RankId source) const {
  return const_cast<Mailbox*>(this)->lookup(comm, source);
}

void Mailbox::approach(std::uint64_t comm, RankId source) const {
  if (channels_.empty()) return;
  prefetch_lines<1>(&channels_[hash(comm, source) & (channels_.size() - 1)]);
  if (receive_nodes_.size() <= kFewReceives) prefetch_lines<4>(receive_nodes_.data());
}

void Mailbox::approach() const {
  prefetch_lines<4>(message_nodes_.data());
  prefetch_lines<4>(channels_.data());
}

Mailbox::Channel& Mailbox::channel(std::uint64_t comm, RankId source) {
  if (Channel* c = lookup(comm, source)) return *c;
  if (2 * (used_channels_ + 1) > channels_.size()) grow();
  return insert({comm, source, {}, {}});
}

Mailbox::Channel& Mailbox::insert(const Channel& c) {
  const std::size_t mask = channels_.size() - 1;
  std::size_t at = hash(c.comm, c.source) & mask;
  while (channels_[at].source != kAnySource) at = (at + 1) & mask;
  ++used_channels_;
  return channels_[at] = c;
}

// Programs that create communicators for ever must not fill the table: idle channels go when it is full.
void Mailbox::grow() {
  std::vector<Channel> old;
  old.swap(channels_);
  std::erase_if(old, [](const Channel& c) { return c.messages.head == kNil && c.receives.head == kNil; });
  std::size_t size = 8;
  while (size < 4 * (old.size() + 1)) size *= 2;
  channels_.resize(std::max(size, 2 * used_channels_));
  used_channels_ = 0;
  for (const Channel& c : old) insert(c);
}

// ---- lists ----------------------------------------------------------------------------------------------

void Mailbox::keep(Channel& c, const Message& message) {
  const Node node = allocate(message_nodes_, free_messages_, kNil);
  message_nodes_[node].message = message;
  append(message_nodes_, c.messages, node, kNil);
  ++waiting_messages_;
  if (index_) index_->keys.insert({visible(message), message.source, message.sequence, node});
}

void Mailbox::keep(Channel& c, const Receive& receive) {
  const Node node = allocate(receive_nodes_, free_receives_, kNil);
  receive_nodes_[node].receive = receive;
  receive_nodes_[node].order = next_order_++;
  append(receive_nodes_, c.receives, node, kNil);
  ++waiting_receives_;
}

Message Mailbox::remove_message(Channel& c, Node previous, Node node) {
  const Message message = message_nodes_[node].message;
  unlink(message_nodes_, c.messages, previous, node, kNil);
  message_nodes_[node].next = free_messages_;
  free_messages_ = node;
  --waiting_messages_;
  if (index_) index_->keys.erase({visible(message), message.source, message.sequence, node});
  return message;
}

Receive Mailbox::remove_receive(Channel& c, Node previous, Node node) {
  const Receive receive = receive_nodes_[node].receive;
  unlink(receive_nodes_, c.receives, previous, node, kNil);
  receive_nodes_[node].next = free_receives_;
  free_receives_ = node;
  --waiting_receives_;
  return receive;
}

/// (predecessor, node) of the first message that a receive with `tag` may take.
std::pair<Mailbox::Node, Mailbox::Node> Mailbox::first_message(const Channel& c, std::int32_t tag) const {
  Node previous = kNil;
  for (Node node = c.messages.head; node != kNil; previous = node, node = message_nodes_[node].next)
    if (tags_match(tag, message_nodes_[node].message.tag)) return {previous, node};
  return {kNil, kNil};
}

std::pair<Mailbox::Node, Mailbox::Node> Mailbox::first_receive(const Channel& c, std::int32_t tag) const {
  Node previous = kNil;
  for (Node node = c.receives.head; node != kNil; previous = node, node = receive_nodes_[node].next)
    if (tags_match(receive_nodes_[node].receive.tag, tag)) return {previous, node};
  return {kNil, kNil};
}

std::pair<Mailbox::Node, Mailbox::Node> Mailbox::message_by_sequence(const Channel& c,
                                                                     std::uint64_t sequence) const {
  Node previous = kNil;
  for (Node node = c.messages.head; node != kNil; previous = node, node = message_nodes_[node].next)
    if (message_nodes_[node].message.sequence == sequence) return {previous, node};
  return {kNil, kNil};
}

}  // namespace nplus1::semantics

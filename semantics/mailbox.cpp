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
  nodes[node].previous = list.tail;
  if (list.tail == nil)
    list.head = node;
  else
    nodes[list.tail].next = node;
  list.tail = node;
}

template <class Nodes, class List, class Node>
void unlink(Nodes& nodes, List& list, Node node, Node nil) {
  const Node next = nodes[node].next;
  const Node previous = nodes[node].previous;
  if (previous == nil)
    list.head = next;
  else
    nodes[previous].next = next;
  if (next == nil)
    list.tail = previous;
  else
    nodes[next].previous = previous;
}

}  // namespace

Mailbox::Mailbox(Duration announcement) : announcement_{announcement} {}
Mailbox::Mailbox(Mailbox&&) noexcept = default;
Mailbox& Mailbox::operator=(Mailbox&&) noexcept = default;
Mailbox::~Mailbox() = default;

std::optional<Message> Mailbox::post(const Receive& receive) {
  Channel& c = channel(receive.comm, receive.source);
  const Node node = first_message(c, receive.tag);
  if (node == kNil) {
    keep(c, receive);
    return std::nullopt;
  }
  if (undecided_ != 0 && hold(c, message_nodes_[node].message, next_order_)) {
    keep(c, receive);
    return std::nullopt;
  }
  ++next_order_;
  return remove_message(c, node);
}

std::optional<Receive> Mailbox::arrive(const Message& message) {
  Channel& c = channel(message.comm, message.source);
  const Node node = first_receive(c, message.tag);
  if (node == kNil) {
    keep(c, message);
    return std::nullopt;
  }
  const Receive& taker = receive_nodes_[node].receive;
  const bool held = undecided_ != 0 &&
                    (first_message(c, taker.tag) != kNil || hold(c, message, receive_nodes_[node].order));
  if (held) {
    keep(c, message);
    return std::nullopt;
  }
  return remove_receive(c, node);
}

std::optional<Message> Mailbox::take(std::uint64_t comm, RankId source, std::uint64_t sequence) {
  Channel* c = lookup(comm, source);
  if (c == nullptr) return std::nullopt;
  const Node node = message_by_sequence(*c, sequence);
  if (node == kNil) return std::nullopt;
  return remove_message(*c, node);
}

const Message* Mailbox::find(std::uint64_t comm, RankId source, std::uint64_t sequence) const {
  auto& self = const_cast<Mailbox&>(*this);  // a search may sort what it searches
  Channel* c = self.lookup(comm, source);
  if (c == nullptr) return nullptr;
  const Node node = self.message_by_sequence(*c, sequence);
  return node == kNil ? nullptr : &message_nodes_[node].message;
}

bool Mailbox::update(const Message& message) {
  Channel* c = lookup(message.comm, message.source);
  if (c == nullptr) return false;
  const Node node = message_by_sequence(*c, message.sequence);
  if (node == kNil) return false;
  Message& kept = message_nodes_[node].message;
  const Message before = kept;
  kept.at = message.at;
  kept.rendezvous = message.rendezvous;
  kept.user = message.user;
  if (index_) vanished(*c, before, node);  // found again, with its new time
  return true;
}

bool Mailbox::cancel(std::uint64_t receive_id, std::vector<Match>& settled) {
  if (index_) {
    const auto found = index_->by_id.find(receive_id);
    if (found != index_->by_id.end()) {
      const auto [choice, order] = found->second;
      remove_undecided(*choice, order, settled);
      return true;
    }
  }
  if (!named_by_id_) {
    named_by_id_ = std::make_unique<std::unordered_map<std::uint64_t, Node>>();
    for (const Channel& c : channels_)
      for (Node node = c.receives.head; node != kNil; node = receive_nodes_[node].next)
        named_by_id_->emplace(receive_nodes_[node].receive.id, node);
  }
  const auto found = named_by_id_->find(receive_id);
  if (found == named_by_id_->end()) return false;
  const Node node = found->second;
  const Receive receive = receive_nodes_[node].receive;
  Channel& c = *lookup(receive.comm, receive.source);
  remove_receive(c, node);
  settle(c, settled);
  return true;
}

// ---- channels -------------------------------------------------------------------------------------------

Mailbox::Channel* Mailbox::lookup(std::uint64_t comm, RankId source) {
  if (channels_.empty()) return nullptr;
  const std::size_t mask = channels_.size() - 1;
  for (std::size_t at = hash(comm, source) & mask; channels_[at].source != kAnySource; at = (at + 1) & mask)
    if (channels_[at].source == source && channels_[at].comm == comm) return &channels_[at];
  return nullptr;
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
  return insert({comm, source, {}, {}, kNil});
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
  if (sorts_messages(c)) {
    Sorted& sorted = *sorted_[c.sorted];
    sorted.messages.emplace(std::pair{message.tag, message.sequence}, node);
    sorted.by_sequence.emplace(message.sequence, node);
  }
  if (index_) appeared(message, node);
}

void Mailbox::keep(Channel& c, const Receive& receive) {
  const Node node = allocate(receive_nodes_, free_receives_, kNil);
  receive_nodes_[node].receive = receive;
  receive_nodes_[node].order = next_order_++;
  append(receive_nodes_, c.receives, node, kNil);
  ++waiting_receives_;
  if (sorts_receives(c))
    sorted_[c.sorted]->receives.emplace(std::pair{receive.tag, receive_nodes_[node].order}, node);
  if (named_by_id_) named_by_id_->emplace(receive.id, node);
}

Message Mailbox::remove_message(Channel& c, Node node) {
  const Message message = message_nodes_[node].message;
  unlink(message_nodes_, c.messages, node, kNil);
  if (sorts_messages(c)) {
    sorted_[c.sorted]->messages.erase({message.tag, message.sequence});
    sorted_[c.sorted]->by_sequence.erase(message.sequence);
  }
  message_nodes_[node].next = free_messages_;
  free_messages_ = node;
  --waiting_messages_;
  if (index_) vanished(c, message, node);
  if (c.sorted != kNil && c.messages.head == kNil) drop_sorted(c);
  return message;
}

Receive Mailbox::remove_receive(Channel& c, Node node) {
  const Receive receive = receive_nodes_[node].receive;
  unlink(receive_nodes_, c.receives, node, kNil);
  if (sorts_receives(c)) sorted_[c.sorted]->receives.erase({receive.tag, receive_nodes_[node].order});
  if (named_by_id_) named_by_id_->erase(receive.id);
  receive_nodes_[node].next = free_receives_;
  free_receives_ = node;
  --waiting_receives_;
  if (c.sorted != kNil && c.receives.head == kNil) drop_sorted(c);
  return receive;
}

/// The first message that a receive with `tag` may take.
Mailbox::Node Mailbox::first_message(Channel& c, std::int32_t tag) {
  if (c.messages.head == kNil || tag == kAnyTag) return c.messages.head;
  if (sorts_messages(c)) return ++looked_at_, Sorted::first(sorted_[c.sorted]->messages, tag);
  int passed = 0;
  for (Node node = c.messages.head; node != kNil; node = message_nodes_[node].next) {
    ++looked_at_;
    if (message_nodes_[node].message.tag == tag) return node;
    if (++passed > kFew) return Sorted::first(sort_messages(c).messages, tag);
  }
  return kNil;
}

/// The first receive that may take a message with `tag`.
Mailbox::Node Mailbox::first_receive(Channel& c, std::int32_t tag) {
  if (!sorts_receives(c)) {
    int passed = 0;
    for (Node node = c.receives.head; passed <= kFew; node = receive_nodes_[node].next, ++passed) {
      if (node == kNil) return kNil;
      ++looked_at_;
      if (tags_match(receive_nodes_[node].receive.tag, tag)) return node;
    }
    sort_receives(c);
  }
  looked_at_ += 2;
  const Node named = Sorted::first(sorted_[c.sorted]->receives, tag);
  const Node any = Sorted::first(sorted_[c.sorted]->receives, kAnyTag);
  if (named == kNil || any == kNil) return named == kNil ? any : named;
  return receive_nodes_[named].order < receive_nodes_[any].order ? named : any;
}

Mailbox::Node Mailbox::message_by_sequence(Channel& c, std::uint64_t sequence) {
  int passed = 0;
  for (Node node = c.messages.head; node != kNil && !sorts_messages(c); node = message_nodes_[node].next) {
    ++looked_at_;
    if (message_nodes_[node].message.sequence == sequence) return node;
    if (++passed > kFew) sort_messages(c);
  }
  if (!sorts_messages(c)) return kNil;
  ++looked_at_;
  const auto& all = sorted_[c.sorted]->by_sequence;
  const auto found = all.find(sequence);
  return found == all.end() ? kNil : found->second;
}

// ---- long lists -----------------------------------------------------------------------------------------

Mailbox::Sorted& Mailbox::sorted_of(Channel& c) {
  if (c.sorted == kNil && free_sorted_.empty()) {
    c.sorted = static_cast<Node>(sorted_.size());
    sorted_.push_back(std::make_unique<Sorted>());
  } else if (c.sorted == kNil) {
    c.sorted = free_sorted_.back();
    free_sorted_.pop_back();
  }
  return *sorted_[c.sorted];
}

Mailbox::Sorted& Mailbox::sort_messages(Channel& c) {
  Sorted& sorted = sorted_of(c);
  sorted.sorts_messages = true;
  for (Node node = c.messages.head; node != kNil; node = message_nodes_[node].next) {
    const Message& m = message_nodes_[node].message;
    sorted.messages.emplace(std::pair{m.tag, m.sequence}, node);
    sorted.by_sequence.emplace(m.sequence, node);
    ++looked_at_;
  }
  return sorted;
}

Mailbox::Sorted& Mailbox::sort_receives(Channel& c) {
  Sorted& sorted = sorted_of(c);
  sorted.sorts_receives = true;
  for (Node node = c.receives.head; node != kNil; node = receive_nodes_[node].next) {
    sorted.receives.emplace(std::pair{receive_nodes_[node].receive.tag, receive_nodes_[node].order}, node);
    ++looked_at_;
  }
  return sorted;
}

/// An empty list is walked again when it fills: what sorting it cost was paid for by what has left it.
void Mailbox::drop_sorted(Channel& c) {
  Sorted& sorted = *sorted_[c.sorted];
  if (c.messages.head == kNil) sorted.sorts_messages = false;
  if (c.receives.head == kNil) sorted.sorts_receives = false;
  if (sorted.sorts_messages || sorted.sorts_receives) return;
  free_sorted_.push_back(c.sorted);
  c.sorted = kNil;
}

}  // namespace nplus1::semantics

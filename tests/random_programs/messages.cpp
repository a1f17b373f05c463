#include "tests/random_programs/messages.hpp"

#include <algorithm>

namespace random_programs {
namespace {

int divisor(Random& random, long bases) {
  for (int attempt = 0; attempt < 4; ++attempt)
    if (const int n = random.between(2, 12); bases % n == 0) return n;
  return 1;
}

Layout some_layout(Script& s, const Base& base, long bases) {
  if (s.own.chance(50)) return plain(base);
  return random_layout(s.own, base, divisor(s.own, bases));
}

}  // namespace

int address(const Communicator& c, int from, int to) {
  return index_in(c.peers_of(from), to);
}

Part::Part(Script& s, const Message& m, long extra, bool simple)
    : layout{simple ? plain(m.base) : some_layout(s, m.base, m.bases)},
      elements{static_cast<int>(m.bases / layout.bases + extra)},
      memory{layout, elements},
      call{simple ? Argument{memory.data(), elements, layout.type, false}
                  : argument(s.own, memory, layout, elements)} {}

void Part::typed() {
  call.release();
  layout.release();
}

std::shared_ptr<Part> outgoing(Script& s, const Message& m, bool simple) {
  auto part = std::make_shared<Part>(s, m, 0, simple);
  part->memory.put(part->layout, 0, part->elements, m.key());
  return part;
}

std::shared_ptr<Part> incoming(Script& s, const Message& m, bool simple) {
  return std::make_shared<Part>(s, m, s.own.chance(25) ? s.own.between(1, 9) : 0, simple);
}

void check_sent(Script& s, const Message& m, Part& part) {
  Memory expected{part.layout, part.elements};
  expected.put(part.layout, 0, part.elements, m.key());
  s.check(part.memory == expected, "the buffer of a send has changed");
  part.memory.blank();
}

void check_received(Script& s, const Message& m, Part& part, const MPI_Status& status) {
  const Communicator* c = s.find(m.comm);
  int count;
  if (c != nullptr) s.check(status.MPI_SOURCE == address(*c, s.rank, m.source), "the source is another");
  s.check(status.MPI_TAG == m.tag, "the tag is another");
  MPI_Get_count(&status, m.base.type, &count);
  s.check(count == m.bases, "the number of elements is another");
  check_data(s, m, part);
}

void check_data(Script& s, const Message& m, Part& part) {
  Memory expected{part.layout, part.elements};
  expected.put(part.layout, 0, m.bases / part.layout.bases, m.key());
  s.check(part.memory == expected, "the data are not what was sent");
  s.note(m.key());
}

void post_send(Script& s, const Message& m, SendWay way) {
  const Communicator& c = *s.find(m.comm);
  const bool waits = way == SendWay::isend || way == SendWay::issend || way == SendWay::ibsend;
  if (s.rank != m.source) {
    if (waits) later(s, m.source, m.id);
    return;
  }
  const auto part = outgoing(s, m);
  const Argument a = part->call;
  const int to = address(c, m.source, m.destination);
  const bool large = s.large();
  MPI_Request request = MPI_REQUEST_NULL;
  s.books->message(m.destination, m.bytes());
  switch (way) {
    case SendWay::send:
      CALL_SIZED(s, large, Send, a.address, a.count, a.type, to, m.tag, c.handle);
      break;
    case SendWay::ssend:
      CALL_SIZED(s, large, Ssend, a.address, a.count, a.type, to, m.tag, c.handle);
      break;
    case SendWay::bsend:
      CALL_SIZED(s, large, Bsend, a.address, a.count, a.type, to, m.tag, c.handle);
      break;
    case SendWay::rsend:
      CALL_SIZED(s, large, Rsend, a.address, a.count, a.type, to, m.tag, c.handle);
      break;
    case SendWay::isend:
      CALL_SIZED(s, large, Isend, a.address, a.count, a.type, to, m.tag, c.handle, &request);
      break;
    case SendWay::issend:
      CALL_SIZED(s, large, Issend, a.address, a.count, a.type, to, m.tag, c.handle, &request);
      break;
    case SendWay::ibsend:
      CALL_SIZED(s, large, Ibsend, a.address, a.count, a.type, to, m.tag, c.handle, &request);
      break;
    case SendWay::freed:
      CALL_SIZED(s, large, Isend, a.address, a.count, a.type, to, m.tag, c.handle, &request);
      CALL(s, Request_free, &request);
      s.kept.push_back(part);
      part->typed();
      return;
  }
  part->typed();
  if (waits)
    later(s, m.source, m.id, request, [&s, m, part](const MPI_Status&) { check_sent(s, m, *part); });
  else
    check_sent(s, m, *part);
}

namespace {

/// The message that a probe has shown is the one.
void check_probed(Script& s, const Message& m, const MPI_Status& status) {
  int count;
  MPI_Get_count(&status, m.base.type, &count);
  s.check(count == m.bases && status.MPI_TAG == m.tag, "a probe has shown another message");
}

MPI_Message probed(Script& s, const Message& m, ReceiveWay way, int from, int tag, MPI_Comm comm) {
  MPI_Message taken = MPI_MESSAGE_NULL;
  MPI_Status status;
  int flag = 0;
  switch (way) {
    case ReceiveWay::probe:
      CALL(s, Probe, from, tag, comm, &status);
      break;
    case ReceiveWay::iprobe:
      for (; flag == 0; s.note_order(static_cast<std::uint64_t>(flag)))
        CALL(s, Iprobe, from, tag, comm, &flag, &status);
      break;
    case ReceiveWay::mprobe:
    case ReceiveWay::mprobe_imrecv:
      CALL(s, Mprobe, from, tag, comm, &taken, &status);
      break;
    case ReceiveWay::improbe:
      for (; flag == 0; s.note_order(static_cast<std::uint64_t>(flag)))
        CALL(s, Improbe, from, tag, comm, &flag, &taken, &status);
      break;
    default:
      return taken;
  }
  check_probed(s, m, status);
  return taken;
}

}  // namespace

void post_receive(Script& s, const Message& m, ReceiveWay way, bool any_source, bool any_tag) {
  const bool waits = way == ReceiveWay::irecv || way == ReceiveWay::mprobe_imrecv;
  if (s.rank != m.destination) {
    if (waits) later(s, m.destination, m.id);
    return;
  }
  const Communicator& c = *s.find(m.comm);
  const auto part = incoming(s, m);
  const Argument a = part->call;
  const int from = any_source ? MPI_ANY_SOURCE : address(c, m.destination, m.source);
  const int tag = any_tag ? MPI_ANY_TAG : m.tag;
  const bool large = s.large();
  MPI_Status status;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message taken = probed(s, m, way, from, tag, c.handle);
  if (way == ReceiveWay::mprobe_imrecv)
    CALL_SIZED(s, large, Imrecv, a.address, a.count, a.type, &taken, &request);
  else if (taken != MPI_MESSAGE_NULL)
    CALL_SIZED(s, large, Mrecv, a.address, a.count, a.type, &taken, &status);
  else if (waits)
    CALL_SIZED(s, large, Irecv, a.address, a.count, a.type, from, tag, c.handle, &request);
  else
    CALL_SIZED(s, large, Recv, a.address, a.count, a.type, from, tag, c.handle, &status);
  part->typed();
  if (waits)
    later(s, m.destination, m.id, request,
          [&s, m, part](const MPI_Status& done) { check_received(s, m, *part, done); });
  else
    check_received(s, m, *part, status);
}

namespace {

SendWay send_way(Script& s, bool may_block) {
  return may_block ? s.random.of({SendWay::send, SendWay::send, SendWay::ssend, SendWay::bsend,
                                  SendWay::isend, SendWay::isend, SendWay::issend, SendWay::ibsend})
                   : s.random.of(
                         {SendWay::bsend, SendWay::isend, SendWay::isend, SendWay::issend, SendWay::ibsend});
}

ReceiveWay receive_way(Script& s, bool may_block) {
  return may_block ? s.random.of({ReceiveWay::recv, ReceiveWay::recv, ReceiveWay::irecv, ReceiveWay::probe,
                                  ReceiveWay::iprobe, ReceiveWay::mprobe, ReceiveWay::mprobe_imrecv,
                                  ReceiveWay::improbe})
                   : ReceiveWay::irecv;
}

bool same_key(const Message& a, const Message& b) {
  return a.comm == b.comm && a.source == b.source && a.destination == b.destination && a.tag == b.tag;
}

/// Whether a message of the same source that has been sent and for which no receive is posted could be taken instead.
bool another_would_fit(Script& s, const Message& m) {
  return std::any_of(s.messages.begin(), s.messages.end(), [&](const auto& entry) {
    const Message& o = entry.second;
    return o.comm == m.comm && o.destination == m.destination && o.source == m.source && o.sent &&
           !o.received;
  });
}

/// Other sources may be steps ahead, so any source is asked for only with a tag that nobody else uses.
void post_missing_receive(Script& s, const Message& m) {
  const ReceiveWay way = receive_way(s, m.sent && m.source != m.destination);
  const bool any_source = s.random.chance(30) && m.tag - s.small_tags >= kFirstUniqueTag;
  const bool any_tag =
      s.random.chance(15) && !any_source && m.sent && !another_would_fit(s, m) && !s.shares_communicator;
  post_receive(s, m, way, any_source, any_tag);
}

/// First or only the one that does not have to wait for the other.
void post(Script& s, Message m, bool send, bool receive) {
  if (send && receive && m.source == m.destination) {
    post_receive(s, m, ReceiveWay::irecv, false, false);
    post_send(s, m, send_way(s, true));
    return;
  }
  m.sent = m.sent || send;
  if (send) post_send(s, m, send_way(s, (m.received || receive) && m.source != m.destination));
  if (receive) post_missing_receive(s, m);
}

}  // namespace

Message random_message(Script& s, const Communicator& c) {
  Message m{};
  m.id = s.next_id++;
  m.comm = c.id;
  m.source = s.random.of(c.everybody());
  m.destination = s.random.of(c.peers_of(m.source));
  m.base = random_base(s.random);
  m.bases = random_bytes(s) / m.base.size;
  m.tag = s.next_tag++;
  return m;
}

void message_step(Script& s) {
  Communicator* c = random_communicator(s, 1);
  Message m = random_message(s, *c);
  if (s.options.pairs && s.random.chance(30)) {
    m.base = random_pair(s.random);
    m.bases = random_bytes(s) / m.base.size;
  }
  const int what = s.random.below(4);  // 0: the send alone, 1: the receive alone, else both
  const bool send = what != 1, receive = what != 0;
  if (s.random.chance(70)) {
    const int unique = m.tag;
    m.tag = s.small_tags + s.random.between(1, 3);
    for (const auto& [id, other] : s.messages)
      if (same_key(m, other) && (other.sent != send || other.received != receive)) m.tag = unique;
  }
  post(s, m, send, receive);
  m.sent = send;
  m.received = receive;
  if (send && receive) return;
  s.messages[m.id] = m;
  ++c->half_open;
}

namespace {

void answer(Script& s, const Message& m) {
  // The operation that waits for this message may complete from the next step on.
  --s.find(m.comm)->half_open;
  post(s, m, !m.sent, !m.received);
}

}  // namespace

void answer_step(Script& s, bool all) {
  do {
    std::vector<int> first;  // of their kind: messages don't overtake
    for (const auto& [id, m] : s.messages)
      if (std::none_of(first.begin(), first.end(),
                       [&](int f) { return same_key(s.messages[f], s.messages[id]); }))
        first.push_back(id);
    if (first.empty()) return;
    const int id = s.random.of(first);
    const Message m = s.messages[id];
    s.messages.erase(id);
    answer(s, m);
  } while (all);
}

}  // namespace random_programs

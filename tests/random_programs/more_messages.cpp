// Steps of messages that begin and end in one step: exchanges, ready sends, persistent requests, and what is about
// nobody or nothing.
#include "tests/random_programs/messages.hpp"

namespace random_programs {
namespace {

void check_nobody(Script& s, const MPI_Status& status) {
  int count;
  MPI_Get_count(&status, MPI_BYTE, &count);
  s.check(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0,
          "the status of a message from nobody");
}

/// A message to each one's next in a random order of the members; at the ends of an open chain there is nobody.
struct Ring {
  std::vector<int> order;
  bool closed;
  int next(int rank, int distance) const {
    const int place = index_in(order, rank) + distance, n = static_cast<int>(order.size());
    if (place < 0 || place >= n) return closed ? order[static_cast<std::size_t>((place + n) % n)] : -1;
    return order[static_cast<std::size_t>(place)];
  }
};

struct Exchange {
  Message sent, received;
  int to, from;
};

/// `status` is null for non-blocking exchanges: MPICH 4.0.2 leaves it empty.
void check_from(Script& s, const Exchange& e, Part& in, const MPI_Status* status) {
  if (e.from != MPI_PROC_NULL && status == nullptr) return check_data(s, e.received, in);
  if (e.from != MPI_PROC_NULL) return check_received(s, e.received, in, *status);
  if (status != nullptr) check_nobody(s, *status);
  Memory blank{in.layout, in.elements};
  s.check(in.memory == blank, "nobody has written something");
}
/// MPI_Isendrecv and MPI_Isendrecv_replace of MPICH 4.0.2 give derived types back once too often.
void exchange(Script& s, const Communicator& c, const Exchange& e, bool waits) {
  const auto out = outgoing(s, e.sent, waits), in = incoming(s, e.received, waits);
  const Argument a = out->call, b = in->call;
  const bool large = s.large();
  const int tag = e.sent.tag;
  MPI_Request request;
  MPI_Status status;
  if (waits)
    CALL_SIZED(s, large, Isendrecv, a.address, a.count, a.type, e.to, tag, b.address, b.count, b.type, e.from,
               tag, c.handle, &request);
  else
    CALL_SIZED(s, large, Sendrecv, a.address, a.count, a.type, e.to, tag, b.address, b.count, b.type, e.from,
               tag, c.handle, &status);
  out->typed();
  in->typed();
  const auto finish = [&s, e, out, in](const MPI_Status* done) {
    check_sent(s, e.sent, *out);
    check_from(s, e, *in, done);
  };
  if (waits)
    later(s, s.rank, -1, request, [finish](const MPI_Status&) { finish(nullptr); });
  else
    finish(&status);
}

/// The data that come take the place of those that went.
void exchange_in_place(Script& s, const Communicator& c, const Exchange& e, bool waits) {
  const auto part = outgoing(s, e.sent, waits);
  const Argument a = part->call;
  const bool large = s.large();
  const int tag = e.sent.tag;
  MPI_Request request;
  MPI_Status status;
  if (waits)
    CALL_SIZED(s, large, Isendrecv_replace, a.address, a.count, a.type, e.to, tag, e.from, tag, c.handle,
               &request);
  else
    CALL_SIZED(s, large, Sendrecv_replace, a.address, a.count, a.type, e.to, tag, e.from, tag, c.handle,
               &status);
  part->typed();
  const auto finish = [&s, e, part](const MPI_Status* done) {
    if (e.from == MPI_PROC_NULL)
      check_sent(s, e.sent, *part);
    else
      check_from(s, e, *part, done);
  };
  if (waits)
    later(s, s.rank, -1, request, [finish](const MPI_Status&) { finish(nullptr); });
  else
    finish(&status);
}

Message between(Message model, int source, int destination) {
  model.source = source;
  model.destination = destination;
  model.id = model.id * 1000 + source;
  return model;
}

}  // namespace

void exchange_step(Script& s) {
  const Communicator& c = *random_communicator(s, 1, false);
  Ring ring{c.members, s.random.chance(60)};
  s.random.shuffle(ring.order);
  ring.order.resize(static_cast<std::size_t>(s.random.between(1, c.size())));
  const Message model = random_message(s, c);
  const bool in_place = s.random.chance(40), waits = s.random.chance(40);
  if (waits) ring.closed = true;  // MPI_Isendrecv of MPICH 4.0.2 crashes where one side is nobody
  for (const int rank : ring.order) {
    if (rank != s.rank) {
      if (waits) later(s, rank);
      continue;
    }
    const int to = ring.next(rank, 1), from = ring.next(rank, -1);
    if (to >= 0) s.books->message(to, model.bytes());
    const Exchange e{between(model, rank, to), between(model, from, rank),
                     to < 0 ? MPI_PROC_NULL : index_in(c.members, to),
                     from < 0 ? MPI_PROC_NULL : index_in(c.members, from)};
    if (in_place)
      exchange_in_place(s, c, e, waits);
    else
      exchange(s, c, e, waits);
  }
}

/// The receiver tells the sender that it is ready.
void ready_step(Script& s) {
  const Communicator& c = *random_communicator(s, 2);
  const Message m = random_message(s, c);
  if (m.source == m.destination) return;
  Message told = random_message(s, c);
  told.source = m.destination;
  told.destination = m.source;
  post_receive(s, m, ReceiveWay::irecv, false, false);
  post_send(s, told, SendWay::send);
  post_receive(s, told, ReceiveWay::recv, false, false);
  post_send(s, m, SendWay::rsend);
}

namespace {

struct Pair {
  Message message;
  int mode;  // of the send
};

struct Persistent {
  Message message;
  std::shared_ptr<Part> part;
  bool sends;
};

MPI_Request make_send(Script& s, const Communicator& c, const Pair& p, const Argument& a) {
  const int to = address(c, p.message.source, p.message.destination), tag = p.message.tag;
  const bool large = s.large();
  MPI_Request request;
  if (p.mode == 0)
    CALL_SIZED(s, large, Send_init, a.address, a.count, a.type, to, tag, c.handle, &request);
  else if (p.mode == 1)
    CALL_SIZED(s, large, Ssend_init, a.address, a.count, a.type, to, tag, c.handle, &request);
  else
    CALL_SIZED(s, large, Bsend_init, a.address, a.count, a.type, to, tag, c.handle, &request);
  return request;
}

MPI_Request make_receive(Script& s, const Communicator& c, const Message& m, const Argument& a) {
  MPI_Request request;
  CALL_SIZED(s, s.large(), Recv_init, a.address, a.count, a.type, address(c, m.destination, m.source), m.tag,
             c.handle, &request);
  return request;
}

void start(Script& s, std::vector<MPI_Request>& requests) {
  if (s.own.chance(50)) {
    CALL(s, Startall, static_cast<int>(requests.size()), requests.data());
    return;
  }
  for (MPI_Request& request : requests) CALL(s, Start, &request);
}

/// One round of all persistent requests of this rank.
void round(Script& s, std::vector<MPI_Request>& requests, std::vector<Persistent>& mine) {
  std::vector<Operation> operations;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const Persistent& p = mine[i];
    p.part->memory.blank();
    if (p.sends) {
      p.part->memory.put(p.part->layout, 0, p.part->elements, p.message.key());
      s.books->message(p.message.destination, p.message.bytes());
    }
    operations.push_back({s.rank, -1, true, false, requests[i], [&s, &p](const MPI_Status& status) {
                            if (p.sends)
                              check_sent(s, p.message, *p.part);
                            else
                              check_received(s, p.message, *p.part, status);
                          }});
  }
  start(s, requests);
  std::vector<Operation*> pointers;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    operations[i].request = requests[i];
    pointers.push_back(&operations[i]);
  }
  complete(s, pointers);
}

}  // namespace

void persistent_step(Script& s) {
  const Communicator& c = *random_communicator(s, 1);
  std::vector<Pair> pairs;
  for (int i = s.random.between(1, 4); i > 0; --i) {
    const Message m = random_message(s, c);
    pairs.push_back({m, s.random.below(3)});
  }
  const int rounds = s.random.between(1, 3);
  std::vector<MPI_Request> requests;
  std::vector<Persistent> mine;
  for (const Pair& p : pairs) {
    if (p.message.source == s.rank) {
      mine.push_back({p.message, outgoing(s, p.message), true});
      requests.push_back(make_send(s, c, p, mine.back().part->call));
      mine.back().part->typed();
    }
    if (p.message.destination == s.rank) {
      mine.push_back({p.message, incoming(s, p.message), false});
      requests.push_back(make_receive(s, c, p.message, mine.back().part->call));
      mine.back().part->typed();
    }
  }
  if (mine.empty()) return;
  for (int r = 0; r < rounds; ++r) round(s, requests, mine);
  for (MPI_Request& request : requests) CALL(s, Request_free, &request);
}

namespace {

void nobody(Script& s, MPI_Comm comm, int way) {
  unsigned char buffer[16] = {};
  MPI_Status status;
  MPI_Request request;
  MPI_Message taken;
  int flag;
  const auto any = [](const MPI_Status&) {};
  switch (way) {
    case 0:
      CALL(s, Send, buffer, 16, MPI_BYTE, MPI_PROC_NULL, 1, comm);
      break;
    case 1:
      CALL(s, Isend, buffer, 16, MPI_BYTE, MPI_PROC_NULL, 1, comm, &request);
      complete_now(s, request, any);
      break;
    case 2:
      CALL(s, Recv, buffer, 16, MPI_BYTE, MPI_PROC_NULL, 1, comm, &status);
      check_nobody(s, status);
      break;
    case 3:
      CALL(s, Irecv, buffer, 16, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, comm, &request);
      complete_now(s, request, any);  // MPICH 4.0.2 leaves the status empty
      break;
    case 4:
      MPI_Probe(MPI_PROC_NULL, 1, comm, &status);
      check_nobody(s, status);
      break;
    case 5:
      MPI_Mprobe(MPI_PROC_NULL, 1, comm, &taken, &status);
      check_nobody(s, status);
      MPI_Mrecv(buffer, 16, MPI_BYTE, &taken, &status);
      check_nobody(s, status);
      break;
    case 6:
      MPI_Iprobe(MPI_PROC_NULL, 1, comm, &flag, &status);
      s.check(flag == 1, "a probe of nobody fails");
      check_nobody(s, status);
      break;
    case 7:
      CALL(s, Issend, buffer, 16, MPI_BYTE, MPI_PROC_NULL, 1, comm, &request);
      complete_now(s, request, any);
      break;
    default:
      request = MPI_REQUEST_NULL;
      MPI_Wait(&request, &status);
      MPI_Test(&request, &flag, &status);
      s.check(flag == 1, "a test of nothing fails");
      MPI_Waitall(0, nullptr, MPI_STATUSES_IGNORE);
      MPI_Waitany(1, &request, &flag, &status);
      s.check(flag == MPI_UNDEFINED, "there is something in nothing");
  }
}

}  // namespace

void nobody_step(Script& s) {
  const Communicator& c = *random_communicator(s, 1);
  const int way = s.random.below(9);
  if (c.has(s.rank) && s.own.chance(60)) nobody(s, c.handle, way);
}

void cancel_step(Script& s) {
  const Communicator& c = *random_communicator(s, 1);
  const Message m = random_message(s, c);
  const bool persistent = s.random.chance(25), any = s.random.chance(40);
  if (m.destination != s.rank) return;
  const auto part = incoming(s, m);
  const Argument a = part->call;
  const int from = any ? MPI_ANY_SOURCE : address(c, m.destination, m.source);
  MPI_Request request;
  if (persistent) {
    CALL(s, Recv_init, a.address, a.count, a.type, from, m.tag, c.handle, &request);
    CALL(s, Start, &request);
  } else {
    CALL(s, Irecv, a.address, a.count, a.type, from, m.tag, c.handle, &request);
  }
  part->typed();
  CALL(s, Cancel, &request);
  Operation one{s.rank, -1, persistent, false, request, [&s](const MPI_Status& status) {
                  int cancelled;
                  MPI_Test_cancelled(&status, &cancelled);
                  s.check(cancelled == 1, "a receive that nobody sends to was not cancelled");
                }};
  complete(s, {&one});
  if (persistent) CALL(s, Request_free, &one.request);
}

/// A send whose request is given back at once.
void free_step(Script& s) {
  const Communicator& c = *random_communicator(s, 2);
  const Message m = random_message(s, c);
  if (m.source == m.destination) return;
  post_send(s, m, SendWay::freed);
  post_receive(s, m, s.random.of({ReceiveWay::recv, ReceiveWay::irecv}), s.random.chance(30), false);
}

}  // namespace random_programs

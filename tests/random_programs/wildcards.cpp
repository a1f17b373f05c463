// Steps in which the network decides who comes first, and all outcomes are equal but for the order.
#include <nplus1.h>

#include <algorithm>

#include "tests/random_programs/messages.hpp"

namespace random_programs {
namespace {

/// How many messages come to the root, and from whom.
struct FanIn {
  const Communicator* comm;
  int root, tag;
  std::vector<Message> messages;  // each source's in its order

  long largest() const {
    long most = 0;
    for (const Message& m : messages) most = std::max(most, m.bases);
    return most;
  }
  /// The next message of `source`, whose number so far is in `seen`.
  const Message& next(Script& s, int source, std::map<int, int>& seen) const {
    int number = seen[source]++;
    for (const Message& m : messages)
      if (m.source == source && number-- == 0) return m;
    s.wrong("a message that nobody sent");
  }
};

FanIn random_fan_in(Script& s, const Communicator& c) {
  FanIn f{&c, 0, 0, {}};
  const Message model = random_message(s, c);
  f.root = model.destination;
  f.tag = model.tag;
  std::vector<int> senders = c.peers_of(f.root);
  s.random.shuffle(senders);
  senders.resize(static_cast<std::size_t>(s.random.between(1, static_cast<int>(senders.size()))));
  for (int i = s.random.between(1, 8); i > 0; --i) {
    Message m = random_message(s, c);
    m.source = s.random.of(senders);
    m.destination = f.root;
    m.tag = f.tag;
    m.base = Base{MPI_BYTE, 1};
    m.bases = std::min(random_bytes(s), 20000l);
    f.messages.push_back(m);
  }
  return f;
}

void fan_in_sends(Script& s, const FanIn& f) {
  for (const Message& m : f.messages) {
    const SendWay way =
        m.source == f.root
            ? s.random.of({SendWay::isend, SendWay::ibsend, SendWay::bsend})
            : s.random.of({SendWay::send, SendWay::ssend, SendWay::bsend, SendWay::isend, SendWay::issend});
    if (m.source == s.rank && s.own.chance(30)) nplus1_compute(s.own.below(2000) * 1e-8);
    post_send(s, m, way);
  }
}

/// What has arrived from `status.MPI_SOURCE`, in the order in which it is known here.
struct Arrivals {
  std::map<int, int> seen;
  std::uint64_t sum = 0;
  void add(Script& s, const FanIn& f, const MPI_Status& status, Memory& memory) {
    const int source = f.comm->peers_of(f.root)[static_cast<std::size_t>(status.MPI_SOURCE)];
    const Message& m = f.next(s, source, seen);
    const Layout bytes = plain(m.base);
    int count;
    MPI_Get_count(&status, MPI_BYTE, &count);
    s.check(count == m.bases && status.MPI_TAG == m.tag, "a message from anybody has another size or tag");
    Memory expected{bytes, f.largest()};
    expected.put(bytes, 0, m.bases, m.key());
    s.check(memory == expected, "the data from anybody are others");
    s.note_order(static_cast<std::uint64_t>(status.MPI_SOURCE));
    sum += m.key();
  }
};

void receive_from_anybody(Script& s, const FanIn& f, int way, Memory& memory, MPI_Status& status) {
  const MPI_Comm comm = f.comm->handle;
  const int room = static_cast<int>(f.largest());
  int source = MPI_ANY_SOURCE, flag = 0;
  MPI_Message taken = MPI_MESSAGE_NULL;
  MPI_Request request;
  if (way == 1) CALL(s, Probe, MPI_ANY_SOURCE, f.tag, comm, &status);
  if (way == 2)
    for (; flag == 0; s.note_order(static_cast<std::uint64_t>(flag)))
      CALL(s, Iprobe, MPI_ANY_SOURCE, f.tag, comm, &flag, &status);
  if (way == 3) CALL(s, Mprobe, MPI_ANY_SOURCE, f.tag, comm, &taken, &status);
  if (way == 4)
    for (; flag == 0; s.note_order(static_cast<std::uint64_t>(flag)))
      CALL(s, Improbe, MPI_ANY_SOURCE, f.tag, comm, &flag, &taken, &status);
  if (way == 1 || way == 2) source = status.MPI_SOURCE;
  if (taken != MPI_MESSAGE_NULL) {
    CALL(s, Mrecv, memory.data(), room, MPI_BYTE, &taken, &status);
  } else if (way == 5) {
    CALL(s, Irecv, memory.data(), room, MPI_BYTE, source, f.tag, comm, &request);
    complete_now(s, request, [&status](const MPI_Status& done) { status = done; });
  } else {
    CALL(s, Recv, memory.data(), room, MPI_BYTE, source, f.tag, comm, &status);
  }
}

}  // namespace

/// The root receives one after the other.
void fan_in_step(Script& s) {
  const FanIn f = random_fan_in(s, *random_communicator(s, 1));
  const int way = s.random.below(6);
  fan_in_sends(s, f);
  if (s.rank != f.root) return;
  Arrivals arrivals;
  const Layout bytes = plain(Base{MPI_BYTE, 1});
  for (std::size_t i = 0; i < f.messages.size(); ++i) {
    Memory memory{bytes, f.largest()};
    MPI_Status status;
    receive_from_anybody(s, f, way, memory, status);
    arrivals.add(s, f, status, memory);
  }
  s.note(arrivals.sum);
}

/// The root posts all receives first, and some named ones between them are somebody else's.
void pending_fan_in_step(Script& s) {
  const FanIn f = random_fan_in(s, *random_communicator(s, 1));
  const Layout bytes = plain(Base{MPI_BYTE, 1});
  const std::size_t n = f.messages.size();
  std::vector<Memory> memory(n, Memory{bytes, f.largest()});
  std::vector<MPI_Status> statuses(n);
  std::vector<Operation> operations;
  for (std::size_t i = 0; i < n && s.rank == f.root; ++i) {
    MPI_Request request;
    CALL(s, Irecv, memory[i].data(), static_cast<int>(f.largest()), MPI_BYTE, MPI_ANY_SOURCE, f.tag,
         f.comm->handle, &request);
    operations.push_back(
        {s.rank, -1, false, false, request, [&statuses, i](const MPI_Status& done) { statuses[i] = done; }});
  }
  fan_in_sends(s, f);
  if (s.rank != f.root) return;
  std::vector<Operation*> pointers;
  for (Operation& o : operations) pointers.push_back(&o);
  complete(s, pointers);
  Arrivals arrivals;
  for (std::size_t i = 0; i < n; ++i) arrivals.add(s, f, statuses[i], memory[i]);
  s.note(arrivals.sum);
}

namespace {

struct Job {
  const Communicator* comm;
  int master, ask, answer, tasks;
};

/// Who asks first gets the next task: which one that is depends on the network, the sum of all doesn't.
void serve(Script& s, const Job& j) {
  long sum = 0, result;
  int given = 0;
  for (int working = j.comm->size() - 1; working > 0;) {
    MPI_Status status;
    CALL(s, Recv, &result, 1, MPI_LONG, MPI_ANY_SOURCE, j.ask, j.comm->handle, &status);
    s.note_order(static_cast<std::uint64_t>(status.MPI_SOURCE));
    sum += result;
    long task = given < j.tasks ? ++given : 0;
    if (task == 0) --working;
    s.books->message(j.comm->members[static_cast<std::size_t>(status.MPI_SOURCE)], sizeof task);
    CALL(s, Send, &task, 1, MPI_LONG, status.MPI_SOURCE, j.answer, j.comm->handle);
  }
  s.check(sum == long{j.tasks} * (j.tasks + 1) / 2 * 7, "the tasks' results are others");
  s.note(static_cast<std::uint64_t>(sum));
}

void work(Script& s, const Job& j) {
  const int master = index_in(j.comm->members, j.master);
  for (long task = 0, result = 0;; result = task * 7) {
    MPI_Request request;
    CALL(s, Isend, &result, 1, MPI_LONG, master, j.ask, j.comm->handle, &request);
    s.books->message(j.master, sizeof result);
    complete_now(s, request, [](const MPI_Status&) {});
    CALL(s, Recv, &task, 1, MPI_LONG, master, j.answer, j.comm->handle, MPI_STATUS_IGNORE);
    if (task == 0) return;
    nplus1_compute(static_cast<double>(mix(static_cast<std::uint64_t>(task)) % 5000) * 1e-8);
  }
}

}  // namespace

void master_worker_step(Script& s) {
  const Communicator* c = random_communicator(s, 2, false);
  if (c == nullptr) return;
  const Job j{c, s.random.of(c->members), s.next_tag, s.next_tag + 1, s.random.between(0, 8)};
  s.next_tag += 2;
  if (s.rank == j.master)
    serve(s, j);
  else if (c->has(s.rank))
    work(s, j);
}

}  // namespace random_programs

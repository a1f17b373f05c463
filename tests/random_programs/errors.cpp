// Steps with errors that MPI returns: calls that it refuses, each followed by proper ones, and receives that are too
// short. What class an error has is part of the outcome.
#include <array>

#include "tests/random_programs/messages.hpp"

namespace random_programs {
namespace {

/// While it lives, errors are returned on a communicator, and where MPICH asks the handler of MPI_COMM_WORLD instead, as
/// it does where a request, a message or a group is the culprit. So one thread only may have such errors.
class ErrorsReturned {
 public:
  explicit ErrorsReturned(MPI_Comm comm) : comm_{comm} { set(MPI_ERRORS_RETURN); }
  ~ErrorsReturned() { set(MPI_ERRORS_ARE_FATAL); }
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;

 private:
  void set(MPI_Errhandler handler) const {
    for (const MPI_Comm comm : {comm_, MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, handler);
  }
  MPI_Comm comm_;
};

void note_error(Script& s, int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  s.check(error_class != MPI_SUCCESS, "MPI has taken what is wrong");
  s.note(static_cast<std::uint64_t>(error_class) + 5000);
}

struct Arguments {
  std::array<int, 64> a{}, b{};
  std::vector<int> counts, places;
  MPI_Comm comm;
  int size;  // of the group that is sent to
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  int flag = 0;
};

using Wrong = int (*)(Arguments&);

const Wrong kWrong[] = {
    [](Arguments& x) { return MPI_Send(x.a.data(), 1, MPI_INT, x.size + 3, 1, x.comm); },
    [](Arguments& x) { return MPI_Send(x.a.data(), -1, MPI_INT, 0, 1, x.comm); },
    [](Arguments& x) { return MPI_Ssend(x.a.data(), 1, MPI_DATATYPE_NULL, 0, 1, x.comm); },
    [](Arguments& x) { return MPI_Bsend(x.a.data(), 1, MPI_INT, 0, -7, x.comm); },
    [](Arguments& x) { return MPI_Isend(x.a.data(), 1, MPI_INT, x.size, 1, x.comm, &x.request); },
    [](Arguments& x) { return MPI_Isend(nullptr, 1, MPI_INT, 0, 1, x.comm, &x.request); },
    [](Arguments& x) { return MPI_Issend(x.a.data(), -2, MPI_INT, 0, 1, x.comm, &x.request); },
    [](Arguments& x) { return MPI_Recv(x.a.data(), 1, MPI_INT, x.size + 3, 1, x.comm, &x.status); },
    [](Arguments& x) { return MPI_Recv(x.a.data(), -1, MPI_INT, 0, 1, x.comm, &x.status); },
    [](Arguments& x) { return MPI_Irecv(x.a.data(), 1, MPI_DATATYPE_NULL, 0, 1, x.comm, &x.request); },
    [](Arguments& x) { return MPI_Irecv(x.a.data(), 1, MPI_INT, 0, -7, x.comm, &x.request); },
    [](Arguments& x) { return MPI_Probe(x.size + 1, 1, x.comm, &x.status); },
    [](Arguments& x) { return MPI_Iprobe(0, -7, x.comm, &x.flag, &x.status); },
    [](Arguments& x) { return MPI_Mprobe(x.size + 1, 1, x.comm, &x.message, &x.status); },
    [](Arguments& x) {
      return MPI_Sendrecv(x.a.data(), 1, MPI_INT, x.size, 1, x.b.data(), 1, MPI_INT, 0, 1, x.comm, &x.status);
    },
    [](Arguments& x) {
      return MPI_Sendrecv_replace(x.a.data(), 1, MPI_INT, 0, 1, x.size, 1, x.comm, &x.status);
    },
    [](Arguments& x) { return MPI_Send_init(x.a.data(), 1, MPI_INT, x.size, 1, x.comm, &x.request); },
    [](Arguments& x) { return MPI_Recv_init(x.a.data(), -1, MPI_INT, 0, 1, x.comm, &x.request); },
    [](Arguments& x) { return MPI_Bcast(x.a.data(), 1, MPI_INT, x.size, x.comm); },
    [](Arguments& x) { return MPI_Bcast(x.a.data(), -1, MPI_INT, 0, x.comm); },
    [](Arguments& x) { return MPI_Bcast(x.a.data(), 1, MPI_DATATYPE_NULL, 0, x.comm); },
    [](Arguments& x) { return MPI_Ibcast(x.a.data(), 1, MPI_INT, x.size, x.comm, &x.request); },
    [](Arguments& x) { return MPI_Reduce(x.a.data(), x.b.data(), 1, MPI_INT, MPI_OP_NULL, 0, x.comm); },
    [](Arguments& x) { return MPI_Reduce(x.a.data(), x.b.data(), 1, MPI_INT, MPI_SUM, -9, x.comm); },
    [](Arguments& x) { return MPI_Allreduce(x.a.data(), x.b.data(), 1, MPI_INT, MPI_OP_NULL, x.comm); },
    [](Arguments& x) {
      return MPI_Ireduce(x.a.data(), x.b.data(), 1, MPI_INT, MPI_OP_NULL, 0, x.comm, &x.request);
    },
    [](Arguments& x) { return MPI_Allreduce(x.a.data(), x.b.data(), 1, MPI_DOUBLE, MPI_BAND, x.comm); },
    [](Arguments& x) { return MPI_Allreduce(x.a.data(), x.b.data(), 1, MPI_DATATYPE_NULL, MPI_SUM, x.comm); },
    [](Arguments& x) { return MPI_Allreduce(x.a.data(), x.a.data(), 1, MPI_INT, MPI_SUM, x.comm); },
    [](Arguments& x) {
      return MPI_Iallreduce(x.a.data(), x.b.data(), 1, MPI_INT, MPI_OP_NULL, x.comm, &x.request);
    },
    [](Arguments& x) { return MPI_Gather(x.a.data(), 1, MPI_INT, x.b.data(), 1, MPI_INT, x.size, x.comm); },
    [](Arguments& x) { return MPI_Scatter(x.a.data(), 1, MPI_INT, x.b.data(), 1, MPI_INT, -9, x.comm); },
    [](Arguments& x) {
      return MPI_Allgather(x.a.data(), 1, MPI_DATATYPE_NULL, x.b.data(), 1, MPI_INT, x.comm);
    },
    [](Arguments& x) { return MPI_Alltoall(x.a.data(), -1, MPI_INT, x.b.data(), 1, MPI_INT, x.comm); },
    [](Arguments& x) {
      return MPI_Allgatherv(x.a.data(), 1, MPI_INT, x.b.data(), x.counts.data(), x.places.data(),
                            MPI_DATATYPE_NULL, x.comm);
    },
    [](Arguments& x) {
      return MPI_Reduce_scatter_block(x.a.data(), x.b.data(), 1, MPI_INT, MPI_OP_NULL, x.comm);
    },
    [](Arguments& x) { return MPI_Scan(x.a.data(), x.b.data(), 1, MPI_INT, MPI_OP_NULL, x.comm); },
    [](Arguments& x) { return MPI_Exscan(x.a.data(), x.b.data(), 1, MPI_INT, MPI_OP_NULL, x.comm); },
    [](Arguments& x) { return MPI_Comm_create(x.comm, MPI_GROUP_NULL, &x.made); },
    [](Arguments& x) {
      const int extent = x.size + 1, open = 0;
      return MPI_Cart_create(x.comm, 1, &extent, &open, 0, &x.made);
    },
};

}  // namespace

/// Some members make some calls wrongly; then all make one that needs everybody.
void refused_step(Script& s) {
  const Communicator* c = random_communicator(s, 1, false);
  const bool barrier = s.random.chance(30);
  if (c == nullptr || !c->has(s.rank)) return;
  Arguments x;
  x.comm = c->handle;
  x.size = c->size();
  x.counts.assign(c->members.size(), 0);
  x.places.assign(c->members.size(), 0);
  {
    const ErrorsReturned returned{c->handle};
    for (int i = s.own.chance(60) ? s.own.between(1, 4) : 0; i > 0; --i)
      note_error(s, kWrong[s.own.below(static_cast<int>(std::size(kWrong)))](x));
  }
  long mine = s.rank + 1, sum = 0, expected = 0;
  for (const int member : c->members) expected += member + 1;
  if (barrier)
    MPI_Comm_dup(c->handle, &x.made);
  else
    MPI_Comm_split(c->handle, 0, 0, &x.made);
  s.books->communicator_call(barrier ? "MPI_Comm_dup" : "MPI_Comm_split", c->size());
  s.books->collective("MPI_Allreduce", c->size(), -1);
  const int first = c->members[0];
  if (s.rank != first) {
    s.books->drawn("allreduce", s.rank, first, sizeof mine);
    s.books->drawn("allreduce", first, s.rank, sizeof sum);
  }
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, x.made);
  s.check(sum == expected, "the call after an error has another result");
  CALL(s, Comm_free, &x.made);
}

namespace {

/// Memory for the beginning of a message, with a margin that nobody may write to.
struct TooShort {
  long bases, bytes;
  std::vector<unsigned char> memory;
  TooShort(Script& s, const Message& m)
      : bases{s.own.below(static_cast<int>(m.bases))}, bytes{bases * m.base.size} {
    memory.assign(static_cast<std::size_t>(bytes) + 64, 0xA5);
  }
  void check(Script& s) const {
    for (std::size_t i = static_cast<std::size_t>(bytes); i < memory.size(); ++i)
      s.check(memory[i] == 0xA5, "a message that is too long was written behind the end");
  }
};

/// Both messages are received at once, one of them by too short a buffer.
void receive_both(Script& s, const Message& m, const Message& whole, TooShort& part) {
  const Communicator& c = *s.find(m.comm);
  const auto in = incoming(s, whole);
  std::array<MPI_Request, 2> requests;
  std::array<MPI_Status, 2> statuses;
  const Argument a = in->call;
  const int from = address(c, m.destination, m.source);
  CALL(s, Irecv, part.memory.data(), static_cast<int>(part.bases), m.base.type, from, m.tag, c.handle,
       &requests[0]);
  CALL(s, Irecv, a.address, a.count, a.type, from, whole.tag, c.handle, &requests[1]);
  in->typed();
  const int code = (CALL(s, Waitall, 2, requests.data(), statuses.data()));
  note_error(s, code);
  s.check(code == MPI_ERR_IN_STATUS, "Waitall does not say that the error is in a status");
  note_error(s, statuses[0].MPI_ERROR);
  // MPI may leave it until later.
  if (statuses[1].MPI_ERROR == MPI_ERR_PENDING)
    CALL(s, Wait, &requests[1], &statuses[1]);
  else
    s.check(statuses[1].MPI_ERROR == MPI_SUCCESS, "the error of another message");
  check_received(s, whole, *in, statuses[1]);
}

int receive(Script& s, const Message& m, int way, TooShort& part) {
  const Communicator& c = *s.find(m.comm);
  const int from = address(c, m.destination, m.source), count = static_cast<int>(part.bases);
  MPI_Status status;
  MPI_Request request;
  MPI_Message taken;
  int code = MPI_SUCCESS, flag = 0;
  switch (way) {
    case 0:
      return CALL(s, Recv, part.memory.data(), count, m.base.type, from, m.tag, c.handle, &status);
    case 1:
      CALL(s, Mprobe, from, m.tag, c.handle, &taken, &status);
      return CALL(s, Mrecv, part.memory.data(), count, m.base.type, &taken, &status);
    default:
      CALL(s, Irecv, part.memory.data(), count, m.base.type, from, m.tag, c.handle, &request);
  }
  if (way == 2) return CALL(s, Wait, &request, &status);
  for (; code == MPI_SUCCESS && flag == 0; s.note_order(static_cast<std::uint64_t>(flag)))
    code = (CALL(s, Test, &request, &flag, &status));
  return code;
}

}  // namespace

/// The receiver has less room than the message takes.
void truncated_step(Script& s) {
  const Communicator* c = random_communicator(s, 2);
  if (c == nullptr) return;
  const Message m = random_message(s, *c);
  Message whole = random_message(s, *c);
  whole.source = m.source;
  whole.destination = m.destination;
  const int way = s.random.below(5);
  if (m.source == m.destination || m.bases == 0) return;
  post_send(s, m, s.random.of({SendWay::bsend, SendWay::isend, SendWay::issend}));
  if (way == 4) post_send(s, whole, SendWay::isend);
  if (s.rank != m.destination) return;
  TooShort part{s, m};
  const ErrorsReturned returned{c->handle};
  if (way == 4)
    receive_both(s, m, whole, part);
  else
    note_error(s, receive(s, m, way, part));
  part.check(s);
}

}  // namespace random_programs

// The wrappers' handlers of libnplus1-overlap.so: blocking sends and receives are chains' calls, a few others are known to
// leave a chain alone, and all that are left end it (before the call, by the wrappers' hook).
#include <pthread.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "stubs/access/watch.hpp"
#include "stubs/clock/thread_clock.hpp"
#include "stubs/guard/guard.hpp"
#include "stubs/handlers.hpp"
#include "stubs/measure/measuring.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/arguments.hpp"

namespace nplus1::stubs {

// Who records accesses is told of memory that calls touch; here nobody is.
void note_memory(const void* /*buffer*/, MPI_Count /*count*/, MPI_Datatype /*type*/) {}
void note_block(const void* /*buffer*/, MPI_Count /*displacement*/, MPI_Count /*count*/,
                MPI_Datatype /*type*/) {}

namespace measure {
namespace {

Measuring* instance = nullptr;  // lives until the process ends
std::string* started = nullptr;
MPI_Comm own_comm = MPI_COMM_NULL;
pthread_t main_thread;

/// What a call means to a chain that is under way.
enum class Effect : unsigned char {
  kEnds,
  kPasses,   // it reaches no memory of the program's, and waits for nobody
  kDecides,  // its handler does
  kStops,    // from here on others may work on memory of the program's
  kAborts,
};

Effect effect_of(std::string_view name) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view n : names)
      if (name == n) return true;
    return false;
  };
  if (name == "MPI_Abort") return Effect::kAborts;
  if (name.starts_with("MPI_Win_") || name.starts_with("MPI_Psend") || name.starts_with("MPI_Precv"))
    return Effect::kStops;
  if (is_one_of({"MPI_Send", "MPI_Send_c", "MPI_Recv", "MPI_Recv_c", "MPI_Sendrecv", "MPI_Sendrecv_c",
                 "MPI_Allreduce", "MPI_Allreduce_c", "MPI_Reduce", "MPI_Reduce_c", "MPI_Bcast", "MPI_Bcast_c",
                 "MPI_Finalize"}))
    return Effect::kDecides;
  if (is_one_of({"MPI_Wtime", "MPI_Wtick", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Type_size",
                 "MPI_Type_commit", "MPI_Type_free", "MPI_Type_vector", "MPI_Type_contiguous",
                 "MPI_Type_create_subarray", "MPI_Type_get_extent", "MPI_Initialized", "MPI_Finalized",
                 "MPI_Cart_shift", "MPI_Cart_coords", "MPI_Cart_rank", "MPI_Get_address", "MPI_Pcontrol"}))
    return Effect::kPasses;
  return Effect::kEnds;
}

std::array<Effect, events::kMpiCalls>& effects() {
  static std::array<Effect, events::kMpiCalls> all = [] {
    std::array<Effect, events::kMpiCalls> made{};
    for (std::size_t i = 1; i < made.size(); ++i) made[i] = effect_of(events::name(static_cast<MpiCall>(i)));
    return made;
  }();
  return all;
}

void on_enter() noexcept {
  access::enter();
  if (!active()) return;
  switch (effects()[events::index(current_call())]) {
    case Effect::kEnds:
      guarded([] { instance->end(EndedBy::kCall); });
      break;
    case Effect::kStops:
      guarded([] { instance->stop("the program uses one-sided or partitioned communication"); });
      break;
    default:
      break;
  }
}

constexpr WrapperHooks kHooks{on_enter, access::leave};

void on_hit(const access::Hit& hit) noexcept {
  if (!active()) return;
  constexpr long kClone = 56, kClone3 = 435;
  if (hit.system_call == kClone || hit.system_call == kClone3) instance->threads_changed();
  guarded([&] {
    const bool call = hit.who == events::Toucher::kSystemCall && hit.system_call >= 0;
    instance->end(call ? EndedBy::kCall : EndedBy::kTouch, &hit);
  });
  access::release_all();
}

/// What the program starts is not watched.
void forget_environment() {
  const char* before = std::getenv("NPLUS1_MEASURED_PRELOAD");
  if (before != nullptr && *before != '\0')
    setenv("LD_PRELOAD", before, 1);
  else
    unsetenv("LD_PRELOAD");
  unsetenv("NPLUS1_MEASURED_PRELOAD");
  unsetenv("NPLUS1_MEASURED");
}

std::string& file() {
  static std::string name;
  return name;
}

void begin() {
  const char* wanted = std::getenv("NPLUS1_MEASURED");
  if (wanted == nullptr || instance != nullptr) return;
  file() = wanted;
  forget_environment();
  calibrate_ticks();
  begin_checks();
  pmpi::Comm_dup(MPI_COMM_WORLD, &own_comm);
  started = new std::string{benchmarks(own_comm)};
  instance = new Measuring;
  main_thread = pthread_self();
  if (const std::string why = access::begin(true); !why.empty()) instance->stop(why.c_str());
  access::on_hit(on_hit);
  effects();
  set_wrapper_hooks(&kHooks);
  set_active(true);
}

/// Rank 0 writes what all have measured.
void write(const std::string& text) {
  int rank = 0, ranks = 1, size = static_cast<int>(text.size());
  pmpi::Comm_rank(own_comm, &rank);
  pmpi::Comm_size(own_comm, &ranks);
  std::vector<int> sizes(static_cast<std::size_t>(ranks)), places(sizes.size());
  pmpi::Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, own_comm);
  int all = 0;
  for (std::size_t i = 0; i < sizes.size() && rank == 0; ++i) {
    places[i] = all;
    all += sizes[i];
  }
  std::string texts(static_cast<std::size_t>(all), ' ');
  pmpi::Gatherv(text.data(), size, MPI_CHAR, texts.data(), sizes.data(), places.data(), MPI_CHAR, 0,
                own_comm);
  if (rank != 0) return;
  const std::string part = file() + ".part";
  std::ofstream out{part};
  out << "nplus1-measured 1\nranks " << ranks << "\n" << texts << "end\n";
  out.close();
  if (!out || std::rename(part.c_str(), file().c_str()) != 0) std::remove(part.c_str());
}

void finish() {
  if (instance == nullptr) return;
  instance->end(EndedBy::kFinalize);
  set_active(false);
  set_wrapper_hooks(nullptr);
  access::on_hit(nullptr);
  access::end();
  int rank = 0;
  pmpi::Comm_rank(own_comm, &rank);
  write("rank " + std::to_string(rank) + "\n" + *started + instance->text());
  pmpi::Comm_free(&own_comm);
  end_checks();
}

/// An operation of the program's own may look at any memory.
bool is_builtin_operation(MPI_Op op) {
  return static_cast<unsigned>(op) >> 30U == 1;
}

/// `buffer` is written, `read` only read.
void work(const void* read, const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Op op) {
  if (!is_builtin_operation(op)) return instance->end(EndedBy::kCall);
  instance->works_on(read, count, type, false);
  instance->works_on(buffer, count, type, true);
}

template <class Count>
int send(const void* buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  const Half half{false, buf, count, datatype, dest, tag};
  return instance->call(&half, 1, comm, MPI_STATUS_IGNORE,
                        [&] { return pmpi::Send(buf, count, datatype, dest, tag, comm); });
}

template <class Count>
int receive(void* buf, Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
            MPI_Status* status) {
  const Half half{true, buf, count, datatype, source, tag};
  return instance->call(&half, 1, comm, status,
                        [&] { return pmpi::Recv(buf, count, datatype, source, tag, comm, status); });
}

template <class Count>
int exchange(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
             void* recvbuf, Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
             MPI_Status* status) {
  const Half halves[] = {{false, sendbuf, sendcount, sendtype, dest, sendtag},
                         {true, recvbuf, recvcount, recvtype, source, recvtag}};
  return instance->call(halves, 2, comm, status, [&] {
    return pmpi::Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                          recvtag, comm, status);
  });
}

}  // namespace

Measuring* measuring() noexcept {
  return active() && pthread_equal(pthread_self(), main_thread) != 0 ? instance : nullptr;
}

}  // namespace measure

namespace handlers {

using measure::instance;

int Init(int* argc, char*** argv) {
  const int code = pmpi::Init(argc, argv);
  if (code == MPI_SUCCESS) guarded([] { measure::begin(); });
  return code;
}

int Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = pmpi::Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) guarded([] { measure::begin(); });
  return code;
}

int Finalize() {
  guarded([] { measure::finish(); });
  return pmpi::Finalize();
}

int Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return measure::send(buf, count, datatype, dest, tag, comm);
}
int Send(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return measure::send(buf, count, datatype, dest, tag, comm);
}
int Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
         MPI_Status* status) {
  return measure::receive(buf, count, datatype, source, tag, comm, status);
}
int Recv(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
         MPI_Status* status) {
  return measure::receive(buf, count, datatype, source, tag, comm, status);
}
int Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
             MPI_Status* status) {
  return measure::exchange(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                           recvtag, comm, status);
}
int Sendrecv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Status* status) {
  return measure::exchange(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                           recvtag, comm, status);
}

int Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm) {
  measure::work(sendbuf, recvbuf, count, datatype, op);
  return pmpi::Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}
int Allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm) {
  measure::work(sendbuf, recvbuf, count, datatype, op);
  return pmpi::Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}
int Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
           MPI_Comm comm) {
  instance->end(measure::EndedBy::kCall);
  return pmpi::Reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
}
int Reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
           MPI_Comm comm) {
  instance->end(measure::EndedBy::kCall);
  return pmpi::Reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
}
int Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  instance->works_on(buffer, count, datatype, true);
  return pmpi::Bcast(buffer, count, datatype, root, comm);
}
int Bcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  instance->works_on(buffer, count, datatype, true);
  return pmpi::Bcast(buffer, count, datatype, root, comm);
}

int Type_free(MPI_Datatype* datatype) {
  if (datatype != nullptr) instance->forget(*datatype);
  return pmpi::Type_free(datatype);
}

}  // namespace handlers
}  // namespace nplus1::stubs

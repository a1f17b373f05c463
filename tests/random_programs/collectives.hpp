// One collective operation of a script, as one member sees it: its role, its buffers, and how it is called.
#pragma once

#include "tests/random_programs/script.hpp"

namespace random_programs {

enum class Form { blocking, nonblocking, persistent };

/// Counts of elements, for the functions with int and for those with large counts.
struct Counts {
  std::vector<int> ints;
  std::vector<MPI_Count> large;
  void add(long value) {
    ints.push_back(static_cast<int>(value));
    large.push_back(value);
  }
  operator const int*() const { return ints.data(); }
  template <class T, class = std::enable_if_t<std::is_same_v<T, MPI_Count>>>
  operator const T*() const {
    return large.data();
  }
};

/// Displacements, likewise.
struct Places {
  std::vector<int> ints;
  std::vector<MPI_Aint> large;
  void add(long value) {
    ints.push_back(static_cast<int>(value));
    large.push_back(value);
  }
  operator const int*() const { return ints.data(); }
  template <class T, class = std::enable_if_t<std::is_same_v<T, MPI_Aint>>>
  operator const T*() const {
    return large.data();
  }
};

/// Blocks of elements of one type in one buffer.
struct Blocks {
  Layout layout;
  Counts counts;  // in elements of the layout
  Places places, byte_places;
  std::vector<MPI_Datatype> types;  // one for each block
  Memory memory;
  long elements = 0;

  void* data() { return memory.data(); }
  long count(std::size_t block) const { return block < counts.ints.size() ? counts.ints[block] : 0; }
  long bytes(std::size_t block) const { return count(block) * layout.size(); }
  long all_bytes() const;
  void put(std::size_t block, std::uint64_t key) {
    memory.put(layout, places.ints[block], count(block), key);
  }
};

struct Collective {
  explicit Collective(Script& script) : s{script} {}

  Script& s;
  Communicator comm;  // a copy: it may be freed before the call completes
  Form form = Form::blocking;
  bool large = false;
  int rounds = 1;  // of a persistent one
  std::uint64_t id = 0;
  std::string name;   // of the blocking function, without MPI_
  std::string layer;  // of docs/formats/patterns.md
  int root = -1, root_group = 0;

  Base base{MPI_BYTE, 1};
  int per = 1;         // bases in an element of the signature
  bool basic = false;  // no derived types
  bool in_place = false;
  Blocks send, receive;
  std::function<void(int round)> fill, check;
  bool fan_in = false, fan_out = false;
  long contributes = 0, gets = 0;
  std::vector<std::pair<int, long>> edges;  // of neighbourhoods: bytes to world ranks

  const std::vector<int>& mine() const { return comm.group_of(s.rank); }
  const std::vector<int>& peers() const { return comm.peers_of(s.rank); }
  int me() const { return index_in(mine(), s.rank); }
  const std::vector<int>& roots() const { return root_group == 0 ? comm.members : comm.others; }
  int root_world() const { return roots()[static_cast<std::size_t>(root)]; }
  bool is_root() const { return root >= 0 && root_world() == s.rank; }
  /// In the root's group of an intercommunicator, which neither gives nor gets.
  bool beside() const { return comm.inter() && !is_root() && index_in(roots(), s.rank) >= 0; }
  /// The root, as this rank has to say it.
  int root_argument() const {
    if (!comm.inter() || index_in(roots(), s.rank) < 0) return root;
    return is_root() ? MPI_ROOT : MPI_PROC_NULL;
  }
  /// What one rank sends another in a round.
  std::uint64_t key(int round, int from, int to) const {
    return mix(id + static_cast<std::uint64_t>(round), static_cast<std::uint64_t>(from * 1000 + to + 1));
  }
  const void* send_buffer() { return in_place ? MPI_IN_PLACE : send.data(); }
  /// Blocks of these numbers of elements of the signature; `dense`: one after the other, in order.
  Blocks blocks(const std::vector<long>& counts, bool dense);
};

using Way = std::function<void(Form, bool large, MPI_Comm, MPI_Request*)>;
/// Makes the call in its form, checks what it brings when it is complete, and counts it.
void perform(const std::shared_ptr<Collective>& c, const Way& way);

/// The three forms of a function, each with and without large counts; `c` is captured.
#define FORMS(Name, Iname, ...)                                                                            \
  [c](Form form, bool large, MPI_Comm comm, MPI_Request* request) {                                        \
    if (form == Form::blocking && large) MPI_##Name##_c(__VA_ARGS__, comm);                                \
    if (form == Form::blocking && !large) MPI_##Name(__VA_ARGS__, comm);                                   \
    if (form == Form::nonblocking && large) MPI_I##Iname##_c(__VA_ARGS__, comm, request);                  \
    if (form == Form::nonblocking && !large) MPI_I##Iname(__VA_ARGS__, comm, request);                     \
    if (form == Form::persistent && large) MPI_##Name##_init_c(__VA_ARGS__, comm, MPI_INFO_NULL, request); \
    if (form == Form::persistent && !large) MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request);  \
  }

/// Each kind is chosen by the script and the same on all ranks; the call is made by the members.
Way moving_collective(const std::shared_ptr<Collective>& c, int kind);
constexpr int kMovingKinds = 10;
Way reduction(const std::shared_ptr<Collective>& c, int kind);
constexpr int kReductionKinds = 6;
Way neighborhood(const std::shared_ptr<Collective>& c, int kind);
constexpr int kNeighborhoodKinds = 4;  // MPI_Neighbor_alltoallw of MPICH 4.0.2 brings wrong data now and then

}  // namespace random_programs

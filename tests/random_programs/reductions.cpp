// Collectives that compute. All values are small integers, so that the order of floating-point sums does not matter.
#include <algorithm>
#include <cstring>

#include "tests/random_programs/collectives.hpp"

namespace random_programs {
namespace {

enum class Operator { sum, product, most, least, exclusive_or, first, last };

struct Calculation {
  Operator op;
  int type;  // int, int64, double, unsigned char, float
  MPI_Op handle;
  bool made;
};

constexpr int kTypes = 5;
const MPI_Datatype kTypeOf[kTypes] = {MPI_INT, MPI_INT64_T, MPI_DOUBLE, MPI_UNSIGNED_CHAR, MPI_FLOAT};
const int kSizeOf[kTypes] = {4, 8, 8, 1, 4};

void keep_first(void* in, void* inout, int* count, MPI_Datatype*) {
  std::memcpy(inout, in, static_cast<std::size_t>(*count) * sizeof(int));
}
void keep_last(void*, void*, int*, MPI_Datatype*) {}

long combine(Operator op, long a, long b) {
  switch (op) {
    case Operator::sum:
      return a + b;
    case Operator::product:
      return a * b;
    case Operator::most:
      return std::max(a, b);
    case Operator::least:
      return std::min(a, b);
    case Operator::exclusive_or:
      return a ^ b;
    case Operator::first:
      return a;
    default:
      return b;
  }
}

Calculation random_calculation(Random r) {
  Calculation k{r.of({Operator::sum, Operator::sum, Operator::product, Operator::most, Operator::least,
                      Operator::exclusive_or, Operator::first, Operator::last}),
                r.below(kTypes), MPI_OP_NULL, false};
  const bool whole = k.type == 0 || k.type == 1 || k.type == 3;
  if (k.op == Operator::exclusive_or && !whole) k.op = Operator::sum;
  switch (k.op) {
    case Operator::sum:
      k.handle = MPI_SUM;
      break;
    case Operator::product:
      k.handle = MPI_PROD;
      break;
    case Operator::most:
      k.handle = MPI_MAX;
      break;
    case Operator::least:
      k.handle = MPI_MIN;
      break;
    case Operator::exclusive_or:
      k.handle = MPI_BXOR;
      break;
    default:
      k.type = 0;
      k.made = true;
      MPI_Op_create(k.op == Operator::first ? keep_first : keep_last, 0, &k.handle);
  }
  return k;
}

void store(int type, void* memory, std::size_t i, long value) {
  switch (type) {
    case 0:
      static_cast<int*>(memory)[i] = static_cast<int>(value);
      break;
    case 1:
      static_cast<std::int64_t*>(memory)[i] = value;
      break;
    case 2:
      static_cast<double*>(memory)[i] = static_cast<double>(value);
      break;
    case 3:
      static_cast<unsigned char*>(memory)[i] = static_cast<unsigned char>(value);
      break;
    default:
      static_cast<float*>(memory)[i] = static_cast<float>(value);
  }
}

/// Contributions, what is computed from them, and the buffers of one reduction.
struct Reduction {
  std::shared_ptr<Collective> c;
  Calculation k;
  long count = 0;                     // elements of the whole vector
  std::vector<double> input, output;  // aligned memory
  long from = 0, results = 0;         // the part of the result that this rank gets
  std::vector<int> givers;            // whose contributions count here, in order
  bool gets_result = false;
  Counts parts;

  long value(int round, int world, long i) const {
    const auto h = mix(c->id + static_cast<std::uint64_t>(round) * 77 + static_cast<std::uint64_t>(world),
                       static_cast<std::uint64_t>(i));
    return k.op == Operator::product ? 1 + static_cast<long>(h % 2) : static_cast<long>(h % 10);
  }
  void blank() { std::memset(output.data(), 0x5B, output.size() * sizeof(double)); }
  void fill(int round) {
    blank();
    void* target = c->in_place ? static_cast<void*>(output.data()) : input.data();
    for (long i = 0; i < count; ++i)
      store(k.type, target, static_cast<std::size_t>(i), value(round, c->s.rank, i));
  }
  void check(int round) {
    if (gets_result) {
      std::vector<double> expected(static_cast<std::size_t>(results) + 1);
      std::memset(expected.data(), 0x5B, expected.size() * sizeof(double));
      for (long i = 0; i < results; ++i) {
        long sum = value(round, givers[0], from + i);
        for (std::size_t g = 1; g < givers.size(); ++g)
          sum = combine(k.op, sum, value(round, givers[g], from + i));
        store(k.type, expected.data(), static_cast<std::size_t>(i), sum);
      }
      const auto bytes = static_cast<std::size_t>(results * kSizeOf[k.type]);
      c->s.check(std::memcmp(expected.data(), output.data(), bytes) == 0,
                 ("the result of " + c->name).c_str());
      c->s.note(mix(c->id, static_cast<std::uint64_t>(round)));
    }
  }
  const void* send() { return c->in_place ? MPI_IN_PLACE : static_cast<const void*>(input.data()); }
  ~Reduction() {
    if (k.made) MPI_Op_free(&k.handle);
  }
  MPI_Datatype type() const { return kTypeOf[k.type]; }
};

/// As FORMS, with a Reduction `r`.
#define REDUCTION(Name, Iname, ...)                                                                        \
  [r](Form form, bool large, MPI_Comm comm, MPI_Request* request) {                                        \
    if (form == Form::blocking && large) MPI_##Name##_c(__VA_ARGS__, comm);                                \
    if (form == Form::blocking && !large) MPI_##Name(__VA_ARGS__, comm);                                   \
    if (form == Form::nonblocking && large) MPI_I##Iname##_c(__VA_ARGS__, comm, request);                  \
    if (form == Form::nonblocking && !large) MPI_I##Iname(__VA_ARGS__, comm, request);                     \
    if (form == Form::persistent && large) MPI_##Name##_init_c(__VA_ARGS__, comm, MPI_INFO_NULL, request); \
    if (form == Form::persistent && !large) MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request);  \
  }

void set_members(Reduction& r, int kind) {
  Collective& c = *r.c;
  const bool scan = kind == 2 || kind == 3;
  r.givers = c.peers();
  r.gets_result = true;
  if (kind == 0) {
    r.gets_result = c.is_root();
    if (c.comm.inter()) r.givers = c.comm.peers_of(c.root_world());
  }
  if (scan) {
    const int me = c.me();
    r.givers = c.comm.members;
    r.givers.resize(static_cast<std::size_t>(kind == 2 ? me + 1 : me));
    r.gets_result = !r.givers.empty();
  }
}

/// Of the whole vector, each gets a part; on an intercommunicator each group shares it out by itself.
void set_parts(Reduction& r, bool same) {
  Collective& c = *r.c;
  const auto& group = c.mine();
  const long n = static_cast<long>(group.size());
  if (same || c.comm.inter()) {
    // A multiple of the sizes of both groups.
    r.count = r.count * static_cast<long>(c.comm.members.size()) *
              static_cast<long>(std::max<std::size_t>(1, c.comm.others.size()));
    for (long i = 0; i < n; ++i) r.parts.add(r.count / n);
  } else {
    long sum = 0;
    for (const int world : group) {
      const long part =
          Random{mix(c.id, 300 + static_cast<std::uint64_t>(world))}.below(static_cast<int>(r.count) + 1);
      r.parts.add(part);
      sum += part;
    }
    r.count = sum;
  }
  const auto me = static_cast<std::size_t>(c.me());
  for (std::size_t i = 0; i < me; ++i) r.from += r.parts.ints[i];
  r.results = r.parts.ints[me];
}

}  // namespace

Way reduction(const std::shared_ptr<Collective>& c, int kind) {
  const auto r = std::make_shared<Reduction>();
  static const char* const names[] = {"Reduce", "Allreduce",      "Scan",
                                      "Exscan", "Reduce_scatter", "Reduce_scatter_block"};
  static const char* const layers[] = {"reduce", "allreduce",      "scan",
                                       "exscan", "reduce_scatter", "reduce_scatter_block"};
  if (c->comm.inter() && (kind == 2 || kind == 3)) kind = 1;
  r->c = c;
  c->name = names[kind];
  c->layer = layers[kind];
  if (kind != 0) c->root = -1;
  Random random{mix(c->id, 11)};
  r->k = random_calculation(Random{mix(c->id, 12)});
  r->count = r->results = random.below(random.of({1, 4, 30, 300, 3000}));
  set_members(*r, kind);
  if (kind >= 4) set_parts(*r, kind == 5);
  c->in_place =
      !c->comm.inter() && c->form != Form::persistent && random.chance(30) && (kind != 0 || c->is_root());
  // MPICH 4.0.2 crashes in MPI_Reduce in place of more than 2 KiB at another root than 0.
  if (kind == 0 && c->root != 0 && r->count * kSizeOf[r->k.type] > 2048) c->in_place = false;
  r->input.resize(static_cast<std::size_t>(r->count) + 1);
  r->output.resize(static_cast<std::size_t>(r->count) + 1);
  const long whole = r->count * kSizeOf[r->k.type];
  c->fan_in = true;
  c->fan_out = kind != 0;
  c->contributes = whole;
  c->gets = r->results * kSizeOf[r->k.type];
  c->fill = [p = r.get()](int round) { p->fill(round); };
  c->check = [p = r.get()](int round) { p->check(round); };
  c->s.until_end.push_back(r);  // its functions are c's, and it holds c
  switch (kind) {
    case 0:
      return REDUCTION(Reduce, reduce, r->send(), r->output.data(), static_cast<int>(r->count), r->type(),
                       r->k.handle, r->c->root_argument());
    case 1:
      return REDUCTION(Allreduce, allreduce, r->send(), r->output.data(), static_cast<int>(r->count),
                       r->type(), r->k.handle);
    case 2:
      return REDUCTION(Scan, scan, r->send(), r->output.data(), static_cast<int>(r->count), r->type(),
                       r->k.handle);
    case 3:
      return REDUCTION(Exscan, exscan, r->send(), r->output.data(), static_cast<int>(r->count), r->type(),
                       r->k.handle);
    case 4:
      return REDUCTION(Reduce_scatter, reduce_scatter, r->send(), r->output.data(), r->parts, r->type(),
                       r->k.handle);
    default:
      return REDUCTION(Reduce_scatter_block, reduce_scatter_block, r->send(), r->output.data(),
                       r->parts.ints[0], r->type(), r->k.handle);
  }
}

}  // namespace random_programs

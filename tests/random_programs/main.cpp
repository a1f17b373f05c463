// Random programs: `random_program FIRST_SEED SCRIPTS STEPS [OPTION...]` performs SCRIPTS scripts, one after the other,
// each made from its seed alone. Every payload is checked. README.md says what is printed and compared.
//   --skip A,B,...     leaves steps out: what remains is a valid program
//   --kinds A,B,...    steps of these kinds only
//   --largest BYTES    of a message
//   --persistent       persistent collectives too
//   --code N           the exit code
//   --trace            each rank says on stderr which step it begins
// RANDOM_PROGRAM_BOOKS=FOLDER: where each rank leaves its books; RANDOM_PROGRAM_DELAY=SEED: it dawdles.
#include <nplus1.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "tests/random_programs/script.hpp"

namespace random_programs {
namespace {

struct Kind {
  const char* name;
  int weight;
  void (*step)(Script&);
};

void compute_step(Script& s) {
  const int who = s.random.below(s.size);
  if (s.rank == who || s.own.chance(30)) nplus1_compute(s.own.below(20000) * 1e-8);
}

void time_step(Script& s) {
  const double now = MPI_Wtime();
  s.check(MPI_Wtime() >= now, "the time goes back");
  s.note_order(static_cast<std::uint64_t>(std::llround(now * 1e12)));
}

void region_step(Script& s) {
  nplus1_region_begin("part");
  compute_step(s);
  nplus1_region_end("part");
}

const Kind kKinds[] = {
    {"message", 30, message_step},
    {"answer", 12, [](Script& s) { answer_step(s, false); }},
    {"complete", 12, [](Script& s) { complete_step(s, false); }},
    {"exchange", 6, exchange_step},
    {"ready", 3, ready_step},
    {"persistent", 5, persistent_step},
    {"nobody", 3, nobody_step},
    {"cancel", 3, cancel_step},
    {"free", 3, free_step},
    {"fan_in", 5, fan_in_step},
    {"pending_fan_in", 5, pending_fan_in_step},
    {"master_worker", 3, master_worker_step},
    {"collective", 25, collective_step},
    {"communicator", 10, communicator_step},
    {"free_communicator", 4, [](Script& s) { free_communicator_step(s, false); }},
    {"compute", 12, compute_step},
    {"time", 2, time_step},
    {"region", 2, region_step},
};

const Kind& random_kind(Script& s) {
  const auto allowed = [&](const Kind& k) {
    const auto& names = s.options.kinds;
    return names.empty() || std::find(names.begin(), names.end(), k.name) != names.end();
  };
  int sum = 0;
  for (const Kind& k : kKinds) sum += allowed(k) ? k.weight : 0;
  int left = s.random.below(std::max(sum, 1));
  for (const Kind& k : kKinds) {
    if (!allowed(k)) continue;
    if (left < k.weight) return k;
    left -= k.weight;
  }
  return kKinds[0];
}

/// A process that is slow at places of its own: nothing may depend on it.
/// In real time only: what the C library's functions sleep is the program's own, and virtual time.
void dawdle(long nanoseconds) {
  const timespec pause{nanoseconds / 1000000000, nanoseconds % 1000000000};
  syscall(SYS_nanosleep, &pause, nullptr);
}

class Dawdler {
 public:
  Dawdler(int rank) : random_{0} {
    const char* text = std::getenv("RANDOM_PROGRAM_DELAY");
    on_ = text != nullptr;
    if (!on_) return;
    random_ = Random{mix(std::strtoull(text, nullptr, 10), static_cast<std::uint64_t>(rank))};
    struct sigaction action {};
    action.sa_handler = [](int) {
      const int kept = errno;
      dawdle(300000);
      errno = kept;
    };
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    next();
  }
  void next() {
    if (!on_) return;
    // The alarm comes at any instruction, also in the preloaded library.
    const itimerval timer{{0, 0}, {0, random_.between(100, 4000)}};
    setitimer(ITIMER_REAL, &timer, nullptr);
    if (random_.chance(8)) dawdle(random_.below(3000) * 1000L);
  }
  void stop() {
    if (on_) signal(SIGALRM, SIG_IGN);
  }

 private:
  Random random_;
  bool on_;
};

void perform(Script& s, Dawdler& dawdler) {
  Communicator world;
  world.handle = MPI_COMM_WORLD;
  for (int i = 0; i < s.size; ++i) world.members.push_back(i);
  s.communicators.push_back(world);
  const auto begin = [&](int step) {
    s.step = step;
    s.random = Random{mix(s.options.seed, static_cast<std::uint64_t>(step))};
    s.own = Random{
        mix(mix(s.options.seed, static_cast<std::uint64_t>(step)), static_cast<std::uint64_t>(s.rank) + 99)};
    dawdler.next();
  };
  for (int step = 0; step < s.options.steps; ++step) {
    if (s.options.skipped[static_cast<std::size_t>(step)]) continue;
    begin(step);
    const Kind& kind = random_kind(s);
    if (s.options.trace) std::fprintf(stderr, "rank %d: step %d, %s\n", s.rank, step, kind.name);
    kind.step(s);
  }
  begin(s.options.steps);
  if (s.options.trace) std::fprintf(stderr, "rank %d: the end\n", s.rank);
  answer_step(s, true);
  complete_step(s, true);
  free_communicator_step(s, true);
}

Options parse(int argc, char** argv, int& scripts, int& code) {
  Options o;
  o.seed = std::strtoull(argv[1], nullptr, 10);
  scripts = std::atoi(argv[2]);
  o.steps = std::atoi(argv[3]);
  o.skipped.resize(static_cast<std::size_t>(o.steps));
  for (int i = 4; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--trace") {
      o.trace = true;
      continue;
    }
    if (name == "--persistent") {
      o.persistent = true;
      continue;
    }
    const char* value = argv[++i];
    if (name == "--largest") o.largest = std::atoi(value);
    if (name == "--code") code = std::atoi(value);
    for (char* word = std::strtok(argv[i], ","); word != nullptr; word = std::strtok(nullptr, ",")) {
      if (name == "--skip" && std::atoi(word) < o.steps)
        o.skipped[static_cast<std::size_t>(std::atoi(word))] = true;
      if (name == "--kinds") o.kinds.emplace_back(word);
    }
  }
  return o;
}

int run(int argc, char** argv) {
  int scripts = 0, code = 0;
  Options options = parse(argc, argv, scripts, code);
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* folder = std::getenv("RANDOM_PROGRAM_BOOKS");
  std::FILE* file = folder != nullptr
                        ? std::fopen((std::string{folder} + "/" + std::to_string(rank)).c_str(), "w")
                        : nullptr;
  std::vector<char> attached(64u << 20);
  MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
  Books books;
  Dawdler dawdler{rank};
  std::vector<std::shared_ptr<void>> kept;
  for (int i = 0; i < scripts; ++i, ++options.seed) {
    Script s;
    s.rank = rank;
    s.size = size;
    s.options = options;
    s.books = &books;
    perform(s, dawdler);
    kept.insert(kept.end(), s.kept.begin(), s.kept.end());
    std::printf("script %llu rank %d: %016llx\n", static_cast<unsigned long long>(options.seed), rank,
                static_cast<unsigned long long>(s.digest));
    std::fflush(stdout);
    if (file != nullptr)
      std::fprintf(file, "order %llu %d %016llx %.12f\n", static_cast<unsigned long long>(options.seed), rank,
                   static_cast<unsigned long long>(s.order), MPI_Wtime());
  }
  void* buffer;
  int bytes;
  MPI_Buffer_detach(&buffer, &bytes);
  dawdler.stop();
  if (file != nullptr) {
    books.write(file, rank);
    std::fclose(file);
  }
  MPI_Finalize();
  return rank == 0 ? code : 0;
}

}  // namespace
}  // namespace random_programs

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "random_program FIRST_SEED SCRIPTS STEPS [OPTION...]\n");
    return 2;
  }
  return random_programs::run(argc, argv);
}

// Random programs: `random_program FIRST_SEED SCRIPTS STEPS [OPTION...]` performs SCRIPTS scripts, one after the other,
// each made from its seed alone. Every payload is checked. README.md says what is printed and compared.
//   --skip A,B,...     leaves steps out: what remains is a valid program
//   --kinds A,B,...    steps of these kinds only
//   --largest BYTES    of a message
//   --persistent       persistent collectives too
//   --errors           calls that return errors
//   --threads          MPI_THREAD_MULTIPLE, and steps in which several threads perform scripts of their own
//   --one-sided        windows too
//   --pairs            messages of pairs of unequal elements too
//   --code N           the exit code
//   --trace            each rank says on stderr which step it begins
// RANDOM_PROGRAM_BOOKS=FOLDER: where each rank leaves its books; RANDOM_PROGRAM_DELAY=SEED: it dawdles.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tests/random_programs/script.hpp"

namespace random_programs {
namespace {

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

Communicator everybody(int size) {
  Communicator world;
  world.handle = MPI_COMM_WORLD;
  for (int i = 0; i < size; ++i) world.members.push_back(i);
  return world;
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
    bool* const flag = name == "--persistent"  ? &o.persistent
                       : name == "--errors"    ? &o.errors
                       : name == "--threads"   ? &o.threads
                       : name == "--one-sided" ? &o.one_sided
                       : name == "--pairs"     ? &o.pairs
                                               : nullptr;
    if (flag != nullptr) {
      *flag = true;
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
  int given = MPI_THREAD_MULTIPLE;
  if (options.threads)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  else
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
  if (given != MPI_THREAD_MULTIPLE) return 3;
  std::vector<std::shared_ptr<void>> kept;
  for (int i = 0; i < scripts; ++i, ++options.seed) {
    Script s;
    s.rank = rank;
    s.size = size;
    s.options = options;
    s.books = &books;
    s.next_tag += i * kTagsOfAScript;
    perform(s, everybody(size), [&dawdler] { dawdler.next(); });
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

// Steps in which several threads of each rank perform scripts of their own, each among its like on the other ranks: on
// communicators of their own, or on a common one by tags of their own. So what each brings about is determined.
#include <thread>

#include "tests/random_programs/script.hpp"

namespace random_programs {
namespace {

struct Thread {
  Script script;
  Books books;
  Communicator world;
  bool own = true;  // the communicator
};

/// Known to all ranks, members or not.
std::deque<Thread> draw(Script& s, const Communicator& comm) {
  std::deque<Thread> threads(static_cast<std::size_t>(s.random.between(2, 4)));
  int number = 0;
  for (Thread& t : threads) {
    t.own = s.random.chance(60);
    t.world = comm;
    t.world.half_open = 0;
    Script& mine = t.script;
    mine.rank = s.rank;
    mine.size = s.size;
    mine.options = s.options;
    mine.options.seed = mix(s.unique(), static_cast<std::uint64_t>(++number));
    mine.options.steps = s.random.between(1, 5);
    mine.options.skipped.clear();
    mine.books = &t.books;
    mine.in_thread = true;
    mine.shares_communicator = !t.own;
    mine.small_tags = s.next_tag;
    mine.next_tag = s.next_tag + kFirstUniqueTag;
    mine.next_id = s.next_id;
    s.next_tag += kTagsOfAThread;
    s.next_id += kTagsOfAThread;
  }
  return threads;
}

void perform(Thread& t) {
  perform(t.script, t.world, [] {});
}

void collect(Script& s, Thread& t) {
  if (t.own) CALL(s, Comm_free, &t.world.handle);
  s.books->add(t.books);
  s.note(t.script.digest);
  s.note_order(t.script.order);
  s.kept.insert(s.kept.end(), t.script.kept.begin(), t.script.kept.end());
}

}  // namespace

void threads_step(Script& s) {
  const Communicator comm = *random_communicator(s, 2, false);  // MPI_COMM_WORLD is one
  std::deque<Thread> threads = draw(s, comm);
  const bool main_too = s.random.chance(50);
  if (!comm.has(s.rank)) return;
  for (Thread& t : threads)
    if (t.own) {
      MPI_Comm_dup(comm.handle, &t.world.handle);
      s.books->communicator_call("MPI_Comm_dup", comm.size());
    }
  std::vector<std::thread> running;
  for (std::size_t i = main_too ? 1 : 0; i < threads.size(); ++i)
    running.emplace_back([&t = threads[i]] { perform(t); });
  if (main_too) perform(threads[0]);
  for (std::thread& thread : running) thread.join();
  for (Thread& t : threads) collect(s, t);
}

}  // namespace random_programs

// Ways in which programs use threads beside MPI, by name. Each thread sends to the next rank and receives from anybody, with
// a tag of its own. Every rank prints one line; the exit code of `detached` is 1.
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

int rank, size;
std::atomic<bool> over{false};

void talk(int tag, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    int in = -1;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (in != (rank + size - 1) % size) MPI_Abort(MPI_COMM_WORLD, 9);
  }
}

void run_detached() {
  std::atomic<int> done{0};
  for (int t = 0; t < 2; ++t)
    std::thread([&, t] {
      talk(t, 2);
      ++done;
    }).detach();
  while (done < 2) std::this_thread::yield();
}

void run_pool() {
  std::mutex mutex;
  std::condition_variable more;
  std::deque<int> jobs{1, 2, 3, 4, 5, 6};
  std::vector<std::jthread> workers(3);
  for (std::jthread& worker : workers)
    worker = std::jthread([&] {
      for (;;) {
        std::unique_lock lock{mutex};
        if (jobs.empty()) return more.notify_all();
        const int job = jobs.front();
        jobs.pop_front();
        lock.unlock();
        talk(job, 2);
      }
    });
  std::unique_lock lock{mutex};
  more.wait(lock, [&] { return jobs.empty(); });
}

void run_async() {
  std::vector<std::future<void>> jobs;
  for (int t = 0; t < 4; ++t) jobs.push_back(std::async(std::launch::async, [t] { talk(t, 3); }));
}

void run_in_turn() {
  for (int t = 0; t < 5; ++t) std::jthread([t] { talk(t, 2); });
}

void run_many() {
  for (int t = 0; t < 300; ++t) std::jthread([] {});
}

void wait_for_signal() {
  std::jthread waiter([] {
    sigset_t signals;
    int signal = 0;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigwait(&signals, &signal);
    talk(1, 2);
  });
  talk(2, 2);
  kill(getpid(), SIGUSR1);
}

void* talk_until_cancelled(void*) {
  talk(1, 1);
  over = true;
  for (;;) pause();
}

void* talk_and_exit(void*) {
  talk(1, 1);
  pthread_exit(&rank);
}

void end_by_exit_and_cancellation() {
  pthread_t thread;
  void* result = nullptr;
  pthread_create(&thread, nullptr, talk_and_exit, nullptr);
  pthread_join(thread, &result);
  if (result != &rank) MPI_Abort(MPI_COMM_WORLD, 8);
  pthread_create(&thread, nullptr, talk_until_cancelled, nullptr);
  while (!over) usleep(1000);  // a thread must not be cancelled inside MPI
  pthread_cancel(thread);
  pthread_join(thread, &result);
  if (result != PTHREAD_CANCELED) MPI_Abort(MPI_COMM_WORLD, 7);
}

void outlive_finalize() {
  std::thread([] {
    while (!over) usleep(1000);
    pause();
  }).detach();
}

[[noreturn]] void leave_the_rest_to_a_thread() {
  std::thread([] {
    talk(1, 3);
    std::printf("rank %d: done\n", rank);
    std::fflush(stdout);
    MPI_Finalize();
    std::exit(0);
  }).detach();
  pthread_exit(nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string manner = argc > 1 ? argv[1] : "";
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const int wanted = manner == "funnelled" ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (manner == "detached") run_detached();
  if (manner == "pool") run_pool();
  if (manner == "async") run_async();
  if (manner == "turns") run_in_turn();
  if (manner == "many" || manner == "funnelled") run_many();
  if (manner == "signal") wait_for_signal();
  if (manner == "ends") end_by_exit_and_cancellation();
  if (manner == "outlive") outlive_finalize();
  if (manner == "rest") leave_the_rest_to_a_thread();
  talk(99, 2);
  std::printf("rank %d: done\n", rank);
  std::fflush(stdout);
  over = true;
  MPI_Finalize();
  return manner == "detached" ? 1 : 0;
}

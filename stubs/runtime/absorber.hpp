// A thread of ours that takes in what the simulator says, where the program's threads may call MPI beside each other and
// wait inside it: MPI holds its own lock there, and must not be called. It lives for as long as it is needed: a thread that
// stays would look like one of the program's.
#pragma once

#include <atomic>

namespace nplus1::stubs {

class Runtime;

class Absorber {
 public:
  explicit Absorber(Runtime& runtime) : runtime_{runtime} {}
  Absorber(const Absorber&) = delete;
  Absorber& operator=(const Absorber&) = delete;
  /// Waits until the thread has ended.
  ~Absorber();

  /// Runtime::absorb() soon. With the runtime's lock held.
  void want();

 private:
  void run();

  Runtime& runtime_;
  bool wanted_ = false;
  std::atomic<bool> runs_{false};
};

}  // namespace nplus1::stubs

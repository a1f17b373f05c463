#include "stubs/runtime/background.hpp"

#include <algorithm>
#include <utility>

#include "stubs/library/library_of_mpi.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/hooks/error_hook.hpp"
#include "stubs/runtime/hooks/progress_hook.hpp"
#include "stubs/runtime/requests/messages.hpp"

namespace nplus1::stubs {

void Background::begin() {
  pmpi::Grequest_start([](void*, MPI_Status*) { return MPI_SUCCESS; }, [](void*) { return MPI_SUCCESS; },
                       [](void*, int) { return MPI_SUCCESS; }, nullptr, &never_complete_);
}

void Background::end() {
  finish();
  pmpi::Grequest_complete(never_complete_);
  pmpi::Wait(&never_complete_, MPI_STATUS_IGNORE);
}

void Background::leave(MPI_Request native, PrivateCopy&& copy, std::vector<std::shared_ptr<void>> keep) {
  sends_.push_back({native, std::move(copy), std::move(keep)});
}

void Background::leave(MPI_Request native, Communicator& comm, std::vector<std::shared_ptr<void>> keep) {
  if (!library::kFreedCommunicatorsOutliveCollectives) {
    ++comm.in_background;
    keep.push_back({&comm, [needed = comm.shared_from_this()](void*) {
                      --needed->in_background;
                      Messages::free_if_due(*needed);
                    }});
  }
  leave(native, PrivateCopy{}, std::move(keep));
}

void Background::progress(std::size_t at_most) {
  const QuietErrors errors;  // the program believes these complete
  for (std::size_t i = 0; i < at_most && !sends_.empty(); ++i) {
    if (next_ >= sends_.size()) next_ = 0;
    Send& send = sends_[next_];
    int flag = 0;
    if (pmpi::Test(&send.native, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == 0) {
      ++next_;
    } else {
      std::swap(send, sends_.back());
      sends_.pop_back();
    }
  }
  if (sends_.empty() && detached_sends() > 0) make_progress();
}

void Background::push() {
  progress(4);
  make_progress();
}

/// Testing a request that never completes makes the MPI library's progress. A probe would too, but it walks
/// through all messages that nobody has received yet.
void Background::make_progress() {
  int flag = 0;
  pmpi::Test(&never_complete_, &flag, MPI_STATUS_IGNORE);
}

void Background::finish() {
  while (has_any()) {
    const std::size_t before = sends_.size();
    progress(std::max(before, std::size_t{1}));
    if (sends_.size() == before) idle_wait();
  }
}

}  // namespace nplus1::stubs

// The descriptors that the simulator sleeps on, and the one that wakes it up. Of one thread.
#pragma once

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <span>

namespace nplus1::simnode::node {

class Poll {
 public:
  Poll() : epoll_{epoll_create1(EPOLL_CLOEXEC)}, wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} { add(wake_); }
  Poll(const Poll&) = delete;
  Poll& operator=(const Poll&) = delete;
  ~Poll() {
    ::close(wake_);
    ::close(epoll_);
  }

  void add(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
  void close(int fd) {
    epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
    ::close(fd);
  }
  /// Those that have something, after `milliseconds` at most.
  std::span<const epoll_event> wait(int milliseconds) {
    const int n = epoll_wait(epoll_, found_, kMost, milliseconds);
    return {found_, n > 0 ? static_cast<std::size_t>(n) : 0};
  }
  [[nodiscard]] int epoll() const { return epoll_; }
  /// An eventfd of which ranks have a copy.
  [[nodiscard]] int wake_fd() const { return wake_; }
  void take_wake_up() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = read(wake_, &count, sizeof(count));
  }

 private:
  static constexpr int kMost = 64;
  int epoll_;
  int wake_;
  epoll_event found_[kMost];
};

}  // namespace nplus1::simnode::node

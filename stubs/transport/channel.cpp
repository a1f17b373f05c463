#include "stubs/transport/channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "stubs/transport/handshake.hpp"

namespace nplus1::transport {
namespace {

/// End of file or an error on the socket: the other side is gone. Does not consume data.
bool hung_up(int socket) {
  char byte;
  const ssize_t n = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

std::uint32_t slots_of(const events::Detail& detail) {
  return detail.has_excerpt() ? 2 : 1;
}

events::Event with_detail(events::Event event, const events::Detail& detail) {
  event.flags |= events::kHasDetail;
  event.extension += slots_of(detail);
  return event;
}

class SharedMemoryChannel final : public Channel {
 public:
  SharedMemoryChannel(Segment segment, std::int32_t rank, int socket, int wake_fd)
      : segment_{segment}, block_{segment.rank(rank)}, socket_{socket}, wake_fd_{wake_fd} {}

  void write(const events::Event& event, const void* extension, const events::Detail* detail) override {
    if (detail == nullptr) {
      put(&event);
    } else {
      const events::Event more = with_detail(event, *detail);
      put(&more);
      put(detail);
      if (detail->has_excerpt()) put(detail->excerpt.data());
    }
    const auto* at = static_cast<const std::byte*>(extension);
    for (std::uint32_t i = 0; i < event.extension; ++i) put(at + i * events::kSlotBytes);
    block_.event_head.store(head_, std::memory_order_release);
    // 2: somebody waits for what any event may bring. A miss costs no more than the simulator's timer.
    if (segment_.header().simulator_sleeping.load(std::memory_order_relaxed) == 2) return ring();
    if (head_ - known_tail_ > kEventSlots / 2) ring_if_half_full();
  }

  void ring() override {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    Header& header = segment_.header();
    if (header.simulator_sleeping.load(std::memory_order_relaxed) == 0) return;
    if (header.simulator_sleeping.exchange(0, std::memory_order_relaxed) == 0) return;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(wake_fd_, &one, sizeof(one));
    ++wakes_;
  }

  std::uint64_t wakes() const override { return wakes_; }

  bool read(Slot& slot) override {
    if (answers_read_ == block_.answer_head.load(std::memory_order_acquire)) return false;
    slot = block_.answers[answers_read_ % kAnswerSlots];
    block_.answer_tail.store(++answers_read_, std::memory_order_release);
    return true;
  }

  std::uint32_t prepare_sleep() override {
    const std::uint32_t ticket = block_.bell.load(std::memory_order_relaxed);
    block_.sleeping.fetch_add(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return ticket;
  }
  void sleep(std::uint32_t ticket, std::int64_t nanoseconds) override {
    futex_wait(block_.bell, ticket, nanoseconds);
  }
  void awake() override { block_.sleeping.fetch_sub(1, std::memory_order_relaxed); }

  void leave() override {
    say(kLeave);
    shutdown(socket_, SHUT_RDWR);
  }
  bool end_together(int milliseconds) override {
    char answer = kEnd;
    const Deadline until = std::chrono::steady_clock::now() + std::chrono::milliseconds{milliseconds};
    return say(kEnd) && receive_all(socket_, &answer, 1, until) && answer == kAllEnd;
  }
  bool simulator_gone() override { return hung_up(socket_); }
  RankBlock* block() override { return &block_; }

 private:
  bool say(char word) const { return send(socket_, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1; }

  void put(const void* bytes) {
    while (head_ - known_tail_ >= kEventSlots) wait_for_space();
    std::memcpy(block_.events[head_ % kEventSlots].bytes, bytes, events::kSlotBytes);
    ++head_;
  }

  void ring_if_half_full() {
    known_tail_ = block_.event_tail.load(std::memory_order_acquire);
    if (head_ - known_tail_ > kEventSlots / 2) ring();
  }

  void wait_for_space() {
    known_tail_ = block_.event_tail.load(std::memory_order_acquire);
    if (head_ - known_tail_ < kEventSlots) return;
    block_.event_head.store(head_, std::memory_order_release);  // long extensions pass through in pieces
    ring();
    const std::uint32_t ticket = prepare_sleep();
    known_tail_ = block_.event_tail.load(std::memory_order_acquire);
    if (head_ - known_tail_ >= kEventSlots) sleep(ticket, 1'000'000);
    awake();
    if (simulator_gone()) known_tail_ = head_;  // nobody reads any more: overwrite
  }

  Segment segment_;
  RankBlock& block_;
  int socket_;
  int wake_fd_;
  std::uint64_t wakes_ = 0;
  std::uint64_t head_ = 0;
  std::uint64_t known_tail_ = 0;
  std::uint64_t answers_read_ = 0;
};

class TcpChannel final : public Channel {
 public:
  explicit TcpChannel(int socket) : socket_{socket} { out_.reserve(1 << 16); }

  void write(const events::Event& event, const void* extension, const events::Detail* detail) override {
    const events::Event first = detail == nullptr ? event : with_detail(event, *detail);
    append(&first, events::kSlotBytes);
    if (detail != nullptr) append(detail, slots_of(*detail) * events::kSlotBytes);
    append(extension, event.extension * events::kSlotBytes);
    if (out_.size() >= (1 << 15)) flush();
  }
  void ring() override { flush(); }

  bool read(Slot& slot) override {
    if (in_.size() - consumed_ < events::kSlotBytes) fill();
    if (in_.size() - consumed_ < events::kSlotBytes) return false;
    std::memcpy(slot.bytes, in_.data() + consumed_, events::kSlotBytes);
    consumed_ += events::kSlotBytes;
    return true;
  }

  std::uint32_t prepare_sleep() override { return 0; }
  void sleep(std::uint32_t /*ticket*/, std::int64_t nanoseconds) override {
    pollfd p{socket_, POLLIN, 0};
    const timespec limit{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    ppoll(&p, 1, &limit, nullptr);
  }
  void awake() override {}

  void leave() override {
    shutdown(socket_, SHUT_RDWR);
    gone_ = true;
  }
  bool end_together(int /*milliseconds*/) override { return false; }
  bool simulator_gone() override { return gone_ || hung_up(socket_); }
  RankBlock* block() override { return nullptr; }

 private:
  void append(const void* bytes, std::size_t size) {
    const auto* at = static_cast<const std::byte*>(bytes);
    out_.insert(out_.end(), at, at + size);
  }
  void flush() {
    if (!out_.empty() && !send_all(socket_, out_.data(), out_.size())) gone_ = true;
    out_.clear();
  }
  void fill() {
    in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(consumed_));
    consumed_ = 0;
    std::byte buffer[16 * events::kSlotBytes];
    const ssize_t n = recv(socket_, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (n > 0) in_.insert(in_.end(), buffer, buffer + n);
    if (n == 0) gone_ = true;
  }

  int socket_;
  bool gone_ = false;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::size_t consumed_ = 0;
};

}  // namespace

std::unique_ptr<Channel> make_shared_memory_channel(Segment segment, std::int32_t rank, int socket,
                                                    int wake_fd) {
  return std::make_unique<SharedMemoryChannel>(segment, rank, socket, wake_fd);
}

std::unique_ptr<Channel> make_tcp_channel(int socket) {
  return std::make_unique<TcpChannel>(socket);
}

}  // namespace nplus1::transport

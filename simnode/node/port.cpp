#include "simnode/node/port.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace nplus1::simnode::node {
namespace {

class SharedMemoryPort final : public Port {
 public:
  explicit SharedMemoryPort(transport::RankBlock& block) : block_{block} {}

  std::size_t read(std::size_t limit, const std::function<void(const transport::Slot&)>& take) override {
    const std::uint64_t head = block_.event_head.load(std::memory_order_acquire);
    if (head - tail_ > transport::kEventSlots) throw std::runtime_error{"its ring is overfull"};
    const std::size_t n = std::min<std::size_t>(limit, head - tail_);
    if (n == 0) return 0;
    for (std::size_t i = 0; i < n; ++i) take(block_.events[(tail_ + i) % transport::kEventSlots]);
    tail_ += n;
    block_.event_tail.store(tail_, std::memory_order_release);
    if (n >= transport::kEventSlots / 2) transport::ring_doorbell(block_);  // it may wait for space
    return n;
  }

  void flush() override {
    const std::uint64_t before = head_;
    while (!queue_.empty() &&
           head_ - block_.answer_tail.load(std::memory_order_acquire) < transport::kAnswerSlots) {
      block_.answers[head_ % transport::kAnswerSlots] = queue_.front();
      queue_.pop_front();
      block_.answer_head.store(++head_, std::memory_order_release);
    }
    if (head_ != before) transport::ring_doorbell(block_);
  }

  bool has_input() const override { return block_.event_head.load(std::memory_order_acquire) != tail_; }
  transport::RankBlock* block() override { return &block_; }

 private:
  transport::RankBlock& block_;
  std::uint64_t tail_ = 0;
  std::uint64_t head_ = 0;
};

class TcpPort final : public Port {
 public:
  explicit TcpPort(int socket) : socket_{socket} {}

  std::size_t read(std::size_t limit, const std::function<void(const transport::Slot&)>& take) override {
    std::byte buffer[64 * events::kSlotBytes];
    ssize_t n = 0;
    while (in_.size() < limit * events::kSlotBytes &&
           (n = recv(socket_, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0)
      in_.insert(in_.end(), buffer, buffer + n);
    std::size_t used = 0;
    std::size_t slots = 0;
    for (; slots < limit && in_.size() - used >= events::kSlotBytes; ++slots, used += events::kSlotBytes) {
      transport::Slot slot;
      std::memcpy(slot.bytes, in_.data() + used, events::kSlotBytes);
      take(slot);
    }
    in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(used));
    return slots;
  }

  void flush() override {
    for (; !queue_.empty(); queue_.pop_front())
      out_.insert(out_.end(), queue_.front().bytes, queue_.front().bytes + events::kSlotBytes);
    const ssize_t n =
        out_.empty() ? 0 : ::send(socket_, out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) out_.erase(out_.begin(), out_.begin() + n);
  }

  bool has_input() const override { return in_.size() >= events::kSlotBytes; }
  bool has_output() const override { return !queue_.empty() || !out_.empty(); }

 private:
  int socket_;
  std::vector<std::byte> in_;
  std::vector<std::byte> out_;
};

}  // namespace

bool EventAssembler::take(const transport::Slot& slot) {
  if (missing_ == 0) {
    std::memcpy(&event_, slot.bytes, sizeof(event_));
    extension_.clear();
    missing_ = event_.extension;
    constexpr std::uint32_t kMost = 1U
                                    << 24U;  // a gigabyte: lists of requests and of members are far shorter
    if (missing_ > kMost) throw std::runtime_error{"an event announces more than any has"};
    detail_next_ = event_.has(events::kHasDetail) && missing_ > 0;
    excerpt_next_ = false;
    if (!detail_next_) event_.flags &= static_cast<std::uint8_t>(~events::kHasDetail);
  } else if (detail_next_) {
    detail_ = {};
    std::memcpy(static_cast<void*>(&detail_), slot.bytes, sizeof(slot.bytes));
    detail_next_ = false;
    excerpt_next_ = detail_.has_excerpt();
    --event_.extension;  // only the lists from here on
    --missing_;
  } else if (excerpt_next_) {
    std::memcpy(detail_.excerpt.data(), slot.bytes, sizeof(slot.bytes));
    excerpt_next_ = false;
    --event_.extension;
    --missing_;
  } else {
    extension_.insert(extension_.end(), slot.bytes, slot.bytes + events::kSlotBytes);
    --missing_;
  }
  return missing_ == 0;
}

void Port::send(const events::Answer& answer, std::span<const std::byte> extension) {
  const std::size_t slots = (extension.size() + events::kSlotBytes - 1) / events::kSlotBytes;
  events::Answer first = answer;
  first.extension = static_cast<std::uint32_t>(slots);
  transport::Slot slot{};
  std::memcpy(slot.bytes, &first, sizeof(first));
  queue_.push_back(slot);
  for (std::size_t i = 0; i < slots; ++i) {
    slot = {};
    const auto part = extension.subspan(
        i * events::kSlotBytes, std::min(events::kSlotBytes, extension.size() - i * events::kSlotBytes));
    std::memcpy(slot.bytes, part.data(), part.size());
    queue_.push_back(slot);
  }
}

std::unique_ptr<Port> make_shared_memory_port(transport::RankBlock& block) {
  return std::make_unique<SharedMemoryPort>(block);
}
std::unique_ptr<Port> make_tcp_port(int socket) {
  return std::make_unique<TcpPort>(socket);
}

}  // namespace nplus1::simnode::node

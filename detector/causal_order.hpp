// Gives the ends of messages their places in one order that keeps each rank's own and has no receive before its
// send: the order of the stream they come in, but for receives that it tells before their sends. Fed as the stream
// is read; one thread.
//
// Memory: 8 bytes for each message, and what waits behind receives that came too early.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace nplus1::detector {

/// Is told of the ends of messages: each rank's in the order in which they happened there.
class Ends {
 public:
  using Message = std::uint32_t;  // numbered by the caller, without large gaps
  virtual ~Ends() = default;
  virtual void send(Message message, std::int32_t rank, std::int32_t destination) = 0;
  virtual void receive(Message message, std::int32_t rank) = 0;
};

class CausalOrder final : public Ends {
 public:
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  struct Places {
    std::vector<std::uint32_t> sent_at;      // of each message; kNowhere: it was not sent
    std::vector<std::uint32_t> received_at;  // kNowhere: not received, or its send is not known
  };

  explicit CausalOrder(std::size_t ranks, std::size_t expected = 0);

  void send(Message message, std::int32_t rank, std::int32_t destination) override {
    add({message, destination}, rank);
  }
  void receive(Message message, std::int32_t rank) override { add({message, kReceives}, rank); }

  /// Once, at the end: of messages 0 to `messages` - 1. Receives that still wait for a send that never came lose
  /// their place; what came after them does not.
  [[nodiscard]] Places take(std::size_t messages);

 private:
  static constexpr std::int32_t kReceives = -1;
  struct End {
    Message message;
    std::int32_t destination;  // of a send; kReceives of a receive
  };

  void add(End end, std::int32_t rank);
  [[nodiscard]] bool place(End end);
  void resume(std::int32_t rank);
  void drop_hopeless();

  Places places_;
  std::vector<std::deque<End>> waiting_;  // of each rank: a receive without its send, and all after it
  std::vector<std::int32_t> woken_;
  std::uint32_t clock_ = 0;
};

}  // namespace nplus1::detector

// Ranks with memory, played by hand: what a scenario does with them comes out as the events that a recording of
// the same program would have, hashes included. For tests only. Addresses are in words of 8 bytes; payloads are
// integers of 8 bytes. A call's site is a small number; each function of a scenario has its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "events/sink.hpp"

namespace nplus1::detector {

class World {
 public:
  static constexpr std::int64_t kWords = 4096;

  World(events::EventSink& sink, int ranks);
  [[nodiscard]] int ranks() const { return static_cast<int>(memory_.size()); }

  /// Random numbers that never come twice.
  void fill(int rank, std::int64_t at, std::int64_t words);
  void set(int rank, std::int64_t at, std::int64_t words, std::int64_t value);
  [[nodiscard]] std::span<std::int64_t> words(int rank, std::int64_t at, std::int64_t count);
  void add(int rank, std::int64_t into, std::int64_t from, std::int64_t words);
  void copy(int rank, std::int64_t into, std::int64_t from, std::int64_t words);

  struct Message {
    int source, destination, tag;
    std::vector<std::int64_t> payload;
    std::uint64_t sequence;
  };
  struct Call {
    int site = 1;  // of the send; the receive's is 100 more
    int tag = 0;
    CommId comm{0};
  };
  /// The lines that a call came through, "file:line", innermost first: the same for its receive.
  void name_site(int site, const std::vector<std::string>& lines);
  /// The send's half; the message is under way.
  Message post(int from, std::int64_t at, std::int64_t words, int to, Call call);
  void receive(const Message& message, std::int64_t at, Call call);
  /// Both.
  void send(int from, std::int64_t at, std::int64_t words, int to, std::int64_t into, Call call);
  /// nplus1_send_to_self.
  void capture(int rank, std::int64_t at, std::int64_t words, int site);
  [[nodiscard]] std::uint64_t random(std::uint64_t below);

 private:
  void emit(int rank, events::Event event, const events::Answer& answer, const events::Detail& detail,
            int site);

  events::EventSink& sink_;
  std::vector<std::vector<std::int64_t>> memory_;
  std::vector<std::uint64_t> ordinals_;
  std::vector<std::uint64_t> sequences_;
  std::int64_t now_ = 0;
  std::uint64_t state_ = 12345;
};

}  // namespace nplus1::detector

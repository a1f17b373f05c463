// Ranks with memory, played by hand: what a scenario does with them comes out as the events that a recording of
// the same program would have, hashes included. For tests only. Addresses are in elements, of one type in all of a
// world; floating-point ones are kept as the bits of a double. A call's site is a small number; each function of a
// scenario has its own.
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
  enum class Type : std::uint8_t { kInt64, kInt32, kDouble, kFloat, kByte };

  World(events::EventSink& sink, int ranks, Type type = Type::kInt64, std::int64_t words = kWords);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  virtual ~World() = default;
  [[nodiscard]] int ranks() const { return static_cast<int>(memory_.size()); }

  [[nodiscard]] Type type() const { return type_; }
  [[nodiscard]] bool is_real() const { return type_ == Type::kDouble || type_ == Type::kFloat; }

  /// Random numbers that never come twice.
  void fill(int rank, std::int64_t at, std::int64_t words);
  void set(int rank, std::int64_t at, std::int64_t words, std::int64_t value);
  [[nodiscard]] std::span<std::int64_t> words(int rank, std::int64_t at, std::int64_t count);
  void add(int rank, std::int64_t into, std::int64_t from, std::int64_t words);
  void copy(int rank, std::int64_t into, std::int64_t from, std::int64_t words);
  /// As a number of the world's type.
  void put(int rank, std::int64_t at, double value);
  [[nodiscard]] double get(int rank, std::int64_t at) const;

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
  void capture(int rank, std::int64_t at, std::int64_t words, int site,
               events::OwnPart how = events::OwnPart::kTold);
  [[nodiscard]] std::uint64_t random(std::uint64_t below);
  void seed(std::uint64_t seed) { state_ = seed; }
  /// Where an element lies, as the events have it.
  [[nodiscard]] std::uint64_t address(int rank, std::int64_t at) const;
  [[nodiscard]] std::int64_t width() const;

 protected:
  /// After a send's half, and before a receive's.
  virtual void on_sent(const Message& /*message*/, std::int64_t /*at*/) {}
  virtual void on_receiving(const Message& /*message*/, std::int64_t /*at*/) {}
  /// What a recording knows of these elements.
  void describe(int rank, std::int64_t at, std::int64_t count, events::Detail& detail) const;

 private:
  void emit(int rank, events::Event event, const events::Answer& answer, const events::Detail& detail,
            int site);

  events::EventSink& sink_;
  Type type_;
  std::vector<std::vector<std::int64_t>> memory_;
  std::vector<std::uint64_t> ordinals_;
  std::vector<std::uint64_t> sequences_;
  std::int64_t now_ = 0;
  std::uint64_t state_ = 12345;
};

}  // namespace nplus1::detector

// Ties sends to their receives for a timeline, within a budget: when there are too many messages, a sample
// that both ends agree on (by a hash of the message's name) is kept, half as dense each time. Kept by
// patterns::Timeline; one thread; memory is bounded by the budget.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::patterns {

/// A message's name: the `sequence`-th of all messages from `source` to `destination`.
struct MessageKey {
  RankId source;
  RankId destination;
  std::uint64_t sequence = 0;
  friend bool operator==(const MessageKey&, const MessageKey&) = default;
};

/// Spreads names evenly over all 64 bits.
[[nodiscard]] std::uint64_t spread(const MessageKey& key);

class TimelineMessages {
 public:
  /// At most `budget` messages that overlap `begin`..`end`.
  TimelineMessages(std::size_t budget, Time begin, Time end);

  /// The two halves of a message, in any order.
  void sent(const MessageKey& key, Time at, Bytes size);
  void received(const MessageKey& key, Time at);

  /// The member "messages" of timeline.json (docs/formats/timeline.md).
  [[nodiscard]] std::string json_member() const;

 private:
  struct Half {
    Time at;
    Bytes size{};
    bool is_send{};
  };
  struct Message {
    MessageKey key;
    Time sent;
    Time received;
    Bytes size{};
  };
  struct Spread {
    std::size_t operator()(const MessageKey& key) const { return spread(key); }
  };

  [[nodiscard]] bool sampled(const MessageKey& key) const;
  void join(const MessageKey& key, const Half& half);
  void keep(const Message& message);
  void thin_out();

  std::size_t budget_;
  Time begin_;
  Time end_;
  std::uint64_t one_in_ = 1;  // a power of two
  std::uint64_t total_ = 0;   // sends seen
  std::unordered_map<MessageKey, Half, Spread> open_;
  std::vector<Message> messages_;
};

}  // namespace nplus1::patterns

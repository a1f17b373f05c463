// Puts the two ends of each message together, from the steps of all ranks. Of several analysers that all read the
// same recording each keeps its share of the messages; all number them alike.
// One thread. Memory: a Transfer for each message that is kept, a hash table entry for each that is under way.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "detector/causal_order.hpp"
#include "detector/steps.hpp"
#include "detector/transfer.hpp"

namespace nplus1::detector {

/// Which messages are one analyser's: those of one payload are always the same one's.
struct Share {
  std::uint32_t part = 0;
  std::uint32_t parts = 1;

  [[nodiscard]] bool has(const Content& content, Ends::Message number) const {
    const bool by_payload = content.hashed() && content.bytes > 0;
    return parts == 1 || (by_payload ? content.key() : number) % parts == part;
  }
};

class Matching {
 public:
  using Message = Ends::Message;

  /// `ends` is told of each end of a message, in the order of the steps. `expected` messages find room without
  /// moving the others; any other number of them is as right.
  explicit Matching(Ends& ends, std::size_t expected = 0, Share share = {}) : ends_{ends}, share_{share} {
    all_.reserve(expected / share.parts);
    numbers_.reserve(expected / share.parts);
  }

  void apply(const Step& step);

  [[nodiscard]] std::vector<Transfer>& transfers() { return all_; }
  /// Of each of transfers(); kNobody: it turned out to be another analyser's.
  [[nodiscard]] std::vector<Message>& numbers() { return numbers_; }
  [[nodiscard]] Message messages() const { return messages_; }
  static constexpr Message kNobody = ~Message{0};

 private:
  struct Posted {
    std::uint64_t buffer;
    CallSiteId site;
  };

  /// What a rank has looked for since its last blocking receive.
  struct Poll {
    std::int32_t source;
    std::int32_t tag;
  };

  struct Place {
    Message number;
    std::uint32_t slot;  // kElsewhere
  };
  static constexpr std::uint32_t kElsewhere = ~std::uint32_t{0};

  /// True if this is the first of its ends.
  bool meet(std::uint64_t message, Place& place);
  Place meet_receive(const Step& step);
  std::uint32_t make_room(Message number);
  void arrive(const Step& step, std::uint32_t slot, std::uint64_t buffer, CallSiteId site);
  void sent(const Step& step);
  void received(const Step& step);
  void matched(const Step& step);
  void completed(const Step& step);
  void captured(const Step& step);

  Ends& ends_;
  Share share_;
  Message messages_ = 0;
  std::vector<Transfer> all_;
  std::vector<Message> numbers_;
  std::unordered_map<std::uint64_t, Place> under_way_;  // by message_key()
  std::unordered_map<std::uint64_t, Posted> posted_;    // by (rank, request)
  std::unordered_map<std::int32_t, Poll> polls_;        // by rank
  std::unordered_map<std::uint64_t, Message> arrived_;  // matched, not yet waited for
};

}  // namespace nplus1::detector

// Follows the data of a set of transfers: which origin's bytes each rank came to hold, whom each rank's combined
// values contain, and whether hashes prove each step. The forward replay of Calotoiu et al. (2012, section 4) with
// the algebra of content.hpp for what was split, concatenated or combined.
//
// One thread. Memory is in proportion to the transfers given.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include <boost/container/flat_map.hpp>

#include "detector/transfers.hpp"
#include "events/polynomial_hash.hpp"

namespace nplus1::detector {

using TransferIndex = std::uint32_t;
using TransferList = std::vector<TransferIndex>;
/// Members of the set of ranks under consideration, by their index in it.
using Members = std::vector<bool>;

/// A set of bytes: disjoint ranges, ascending. Nearly always one.
class ByteRanges {
 public:
  void add(std::uint64_t begin, std::uint64_t end);
  void remove(std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] bool empty() const { return ranges_.empty(); }

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  std::vector<Range> ranges_;
};

/// Bytes that were first seen leaving (or captured at) a rank.
struct Origin {
  Content content;                 // of the whole; not hashed where it came inside of something larger
  std::vector<std::size_t> ranks;  // which had it of their own; the first one first
  std::uint64_t buffer = 0;
  std::uint64_t bytes = 0;
  Members contributors;       // of a combination; empty: only the first of `ranks`
  Operations operations = 0;  // it was proved to combine others, by one of these
  bool sent = false;
};

/// Part of an origin in a message or in memory.
struct Segment {
  std::uint32_t origin = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

class Provenance {
 public:
  Provenance(const Transfers& transfers, std::span<const TransferIndex> list);

  /// World ranks of the members, ascending.
  [[nodiscard]] const std::vector<std::int32_t>& ranks() const { return ranks_; }
  [[nodiscard]] std::size_t member(std::int32_t rank) const;
  [[nodiscard]] const std::vector<Origin>& origins() const { return origins_; }
  /// What `member` received of the origin.
  [[nodiscard]] std::uint64_t held(std::size_t member, std::uint32_t origin) const;
  /// What it received and did not pass on, over all origins.
  [[nodiscard]] std::uint64_t kept(std::size_t member) const;
  /// Steps that only addresses vouch for, and parts of messages whose content was never seen alone.
  [[nodiscard]] std::size_t unproved() const { return unproved_; }
  /// Members that sent bytes of their own before they had received any of others'.
  [[nodiscard]] std::size_t independent() const;
  /// Whose data are in it.
  [[nodiscard]] Members contributors(const Origin& origin) const;
  /// Whose contributions the member's value has in the end. Nothing if some would count twice.
  [[nodiscard]] std::optional<Members> combined(std::size_t member) const;
  enum class Own : std::uint8_t { kUnknown, kIncluded, kLeftOut };
  /// Whether the sums that the member sent have its own part in them.
  [[nodiscard]] Own includes_own(std::size_t member) const { return states_[member].includes_own; }
  /// Bytes of the one block that came to the member with all contributions but those that its own memory has.
  [[nodiscard]] std::optional<std::uint64_t> completed_block(std::size_t member) const;
  /// The operation of all proved combinations; nothing if there is none, or several fit.
  [[nodiscard]] std::optional<Operation> operation() const;
  /// Bits of what was sent that follow from what had been sent before, or from what its operands were: an exchange of
  /// unrelated data has the same by accident once in 2^proof.
  [[nodiscard]] double proof(std::span<const TransferIndex> list) const;
  /// Origins in the message `list[i]`; none if it is constant.
  [[nodiscard]] const std::vector<Segment>& segments(std::size_t i) const { return messages_[i]; }

 private:
  struct Piece {
    std::uint64_t end = 0;
    Segment segment;
    std::optional<std::uint32_t> crc;  // of exactly these bytes
  };
  struct Cover {
    std::vector<Segment> segments;  // gaps have origin kGap
    std::optional<std::uint32_t> crc;
    bool gaps = false;
  };
  struct State {
    std::unordered_map<std::uint64_t, std::vector<Segment>> known;  // by content; without whole origins
    std::map<std::uint64_t, Piece> memory;                          // by address
    boost::container::flat_map<std::uint32_t, ByteRanges> held;     // by origin: they come in ascending order
    boost::container::flat_map<std::uint32_t, ByteRanges> kept;
    std::optional<std::uint32_t> own;          // origin that stands for the rank's own value
    std::vector<std::uint32_t> arrived;        // whole origins received since
    std::deque<std::vector<Segment>> addends;  // the last messages: what may have been added to memory
    std::deque<Content> arrivals;              // and their contents
    /// Of a message that came, from where on its pieces were sent on.
    std::unordered_map<std::uint64_t, std::uint64_t> unpacked;
    Own includes_own = Own::kUnknown;
    std::vector<std::uint32_t>
        wholes;  // the last ones that were sent or received: others may be parts of them
    /// From the last receive to a send of data that had not been there: new data were made then.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> fresh;
    std::uint32_t last_foreign = 0;  // when others' data came last
    std::uint32_t first_own_send = 0;
    std::uint32_t first_receive = 0;
  };
  static constexpr std::uint32_t kGap = ~std::uint32_t{0};

  void play(std::span<const TransferIndex> list);
  [[nodiscard]] bool has_lengths_of_parts(std::span<const TransferIndex> list) const;
  void restart(std::size_t messages);
  void send(const Transfer& t, std::vector<Segment>& message);
  void receive(const Transfer& t, const std::vector<Segment>& message);
  void capture(const Transfer& t);
  [[nodiscard]] std::vector<Segment> explain(State& state, std::size_t member, const Transfer& t);
  [[nodiscard]] double agreement_of(const Cover& cover, const Content& content) const;
  [[nodiscard]] std::optional<std::vector<Segment>> unpacked(State& state, const Transfer& t);
  [[nodiscard]] std::optional<std::vector<Segment>> packed(const State& state, std::size_t member,
                                                           const Transfer& t);
  [[nodiscard]] std::vector<Segment> in_parts(std::size_t member, const Transfer& t);
  void look_for_parts(const State& state, const Transfer& t, const std::vector<Segment>& message);
  [[nodiscard]] bool is_trusted(State& state, const Cover& cover, std::size_t member, const Transfer& t);
  [[nodiscard]] bool is_origin_itself(const std::vector<Segment>& segments, const Content& content) const;
  [[nodiscard]] std::optional<std::vector<Segment>> recognised(const State& state, std::size_t member,
                                                               const Content& content) const;
  void note_whole(State& state, std::uint32_t origin);
  [[nodiscard]] bool holds(const Cover& cover, const Content& content) const;
  [[nodiscard]] bool begins_otherwise(const Segment& first, const Content& content) const;
  [[nodiscard]] bool is_made_of(const Origin& whole, std::span<const Segment> parts) const;
  [[nodiscard]] std::optional<Cover> covering(const State& state, std::uint64_t begin,
                                              std::uint64_t bytes) const;
  [[nodiscard]] std::optional<std::uint32_t> combine(State& state, std::size_t member, const Transfer& t);
  [[nodiscard]] std::optional<std::vector<Segment>> accumulate(State& state, std::size_t member,
                                                               const Transfer& t);
  [[nodiscard]] bool add_to_memory(State& state, std::size_t member, std::uint64_t address,
                                   std::span<const Segment> message);
  [[nodiscard]] std::optional<events::Residue> polynomial_of(std::span<const Segment> segments) const;
  [[nodiscard]] bool are_disjoint(std::span<const Segment> a, std::span<const Segment> b) const;
  std::uint32_t add_origin(std::size_t member, const Content& content, std::uint64_t buffer);
  void store(State& state, std::uint64_t address, const std::vector<Segment>& segments, const Content& whole);
  [[nodiscard]] std::optional<std::uint32_t> whole_origin(const std::vector<Segment>& segments) const;

  const Transfers& transfers_;
  std::vector<std::int32_t> ranks_;
  std::vector<State> states_;
  std::vector<Origin> origins_;
  std::unordered_map<std::uint64_t, std::uint32_t> origin_of_;  // by content
  std::vector<std::vector<Segment>> messages_;
  std::size_t unproved_ = 0;
  std::vector<bool> by_address_;   // of each message, whether no hash of all of it says what it is
  std::vector<double> agreement_;  // bits in which single elements do
  double agreed_ = 0;              // of the message that is being explained
  /// Payloads that also came in parts (HPL: the panel to one rank, its pieces to the others), by their content.
  std::unordered_map<std::uint64_t, std::vector<Content>> parts_;
  bool unsure_ = false;           // there are steps that no hash proves
  bool addresses_vouch_ = false;  // for them
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> fresh_;  // of the first play, by member
};

/// True if no member is in both.
[[nodiscard]] bool disjoint(const Members& a, const Members& b);
void unite(Members& into, const Members& from);

}  // namespace nplus1::detector

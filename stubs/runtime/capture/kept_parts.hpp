// Which memory of a rank may hold data that it keeps in what it does by hand, so that no message shows it
// (nplus1_send_to_self says so for certain). Two ways, both from the addresses of messages alone:
//   between   blocks at base + peer * stride went to all other ranks of a communicator: the rank's own block
//   of
//             that vector lies at base + rank * stride. Only where others lie on both sides of it: what is
//             outside of all that was sent need not belong to the vector.
//   added to  a rank that receives as much as it has sent before may be about to add it to what lies there:
//   it
//             is looked at before the message comes. Given up where that is in vain (the data have not
//             changed since they were sent, or are sent as they are), so that exchanges cost nothing for
//             long.
// Decides only; never reads memory. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace nplus1::stubs {

class KeptParts {
 public:
  /// Contiguous data.
  struct Data {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint32_t datatype = 0;
    friend bool operator==(const Data&, const Data&) = default;
  };

  /// `block` goes to `peer` in communicator `comm`, in which this rank is `me` of `members`. The address of
  /// the block that it keeps, once all others have gone.
  std::optional<std::uint64_t> block_sent(std::uint64_t comm, int me, int members, int peer,
                                          const Data& block);

  /// `data` was sent; `content`: its hash.
  void sent(const Data& data, std::uint64_t content);
  /// A message is to be received into `data`: calls `look(address)` for each place that may be added to,
  /// which returns the hash of what lies there, or nothing if it cannot be read. For what is new there,
  /// `tell(address)`.
  template <class Look, class Tell>
  void receives(const Data& data, Look&& look, Tell&& tell) {
    for (Place& place : places_) {
      if (!is_worth(place, data)) continue;
      place.armed = false;
      ++looks_;
      const std::optional<std::uint64_t> found = look(place.data.address);
      if (judge(place, found)) tell(place.data.address);
    }
  }

 private:
  struct Run {
    std::uint64_t comm = 0;
    int first_peer = 0;
    Data first;
    std::int64_t stride = 0;
    std::vector<bool> seen;
    int count = 0;
    bool below = false;  // a peer before this rank, and one behind it
    bool above = false;
  };
  struct Place {
    Data data;
    std::uint64_t sent = 0;
    std::optional<std::uint64_t> looked;  // since then
    bool armed = false;                   // sent, and not looked at since
    unsigned in_vain = 0;
    std::uint64_t used = 0;
  };

  [[nodiscard]] bool continues(std::uint64_t comm, int peer, const Data& block);
  void start(std::uint64_t comm, int members, int peer, const Data& block);
  [[nodiscard]] bool is_worth(const Place& place, const Data& received) const;
  [[nodiscard]] static bool judge(Place& place, std::optional<std::uint64_t> found);

  Run run_;
  std::array<Place, 8> places_;
  std::uint64_t clock_ = 0;
  std::uint64_t looks_ = 0;
  std::uint64_t found_ = 0;  // looks that showed what was added to afterwards
};

}  // namespace nplus1::stubs

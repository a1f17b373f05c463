// What a transformation is about: which messages, or which computing. The user's words (ranks, tags, source
// lines, region names) are turned into numbers of one recording, once; after that a look at an event is a
// look into a table. Plain values; one thread at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/definitions_collector.hpp"
#include "hypothesis/transform/step.hpp"
#include "support/result.hpp"

namespace nplus1::hypothesis::transform {

/// Some numbers out of 0, 1, 2 ...; all of them until set() was called.
class Numbers {
 public:
  void none() { all_ = false; }
  void set(std::size_t number);
  void set(std::size_t first, std::size_t last);
  [[nodiscard]] bool all() const { return all_; }
  [[nodiscard]] bool has(std::size_t number) const {
    return all_ || (number < bits_.size() && bits_[number]);
  }

 private:
  bool all_ = true;
  std::vector<bool> bits_;
};

/// One end of a message.
struct End {
  std::int32_t rank = -1;
  std::uint32_t site = 0;
};

struct MessageSelector {
  Numbers from, to, sends, receives;  // ranks; call paths of either end
  Numbers sites;                      // call path of one end at least
  std::optional<std::int32_t> tag;
  std::optional<std::uint32_t> comm;
  std::int64_t smallest = 0;
  std::int64_t largest = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] bool matches(const End& send, const End& receive, std::int32_t tag_of, std::uint32_t comm_of,
                             std::int64_t size) const;
  /// Keys: from, to, tag, comm, size, site, sends, receives.
  [[nodiscard]] static Result<MessageSelector> of(const Step& step,
                                                  const events::DefinitionsCollector& names);
};

/// Computing: the time between two calls of a thread, or before the first.
struct IntervalSelector {
  Numbers ranks;
  Numbers regions;    // one of those the thread is in
  Numbers functions;  // or: call paths of the call that ends it
  Numbers before;     // call path of the call that ends it
  Numbers after;      // call path of the call before it

  /// Keys: region, before, after, ranks.
  [[nodiscard]] static Result<IntervalSelector> of(const Step& step,
                                                   const events::DefinitionsCollector& names);
};

/// Call paths of the calls before and behind an interval; 0: none.
using IntervalKind = std::pair<std::uint32_t, std::uint32_t>;

/// Follows the threads of all ranks through their regions and calls.
class IntervalTracker {
 public:
  explicit IntervalTracker(IntervalSelector selector) : selector_{std::move(selector)} {}
  /// Of the computing before this call; nothing where it is not meant. To be asked once for each call, in their order.
  [[nodiscard]] std::optional<IntervalKind> next(RankId rank, const events::Event& event);

 private:
  struct Lane {
    std::vector<std::uint32_t> regions;
    std::uint32_t inside = 0;  // how many of them are selected
    std::uint32_t last_site = 0;
  };
  IntervalSelector selector_;
  std::vector<std::vector<Lane>> ranks_;
};

/// Call paths with a frame at `place`: "halo.c:58", a function, "app+0x1373", or "#12:15", numbers of
/// paths.
[[nodiscard]] Numbers paths_at(std::string_view place, const events::DefinitionsCollector& names);

/// "0-3:8" as numbers.
[[nodiscard]] Result<Numbers> parse_numbers(const Step& step, std::string_view key);

/// What a setting should have been.
[[nodiscard]] Error bad_setting(const Step& step, std::string_view key, std::string_view should_be);
/// A real number, not negative; `otherwise` if the key is not set.
[[nodiscard]] Result<double> parse_factor(const Step& step, std::string_view key,
                                          std::optional<double> otherwise);
/// Bytes: "64KiB".
[[nodiscard]] Result<std::int64_t> parse_bytes(const Step& step, std::string_view key,
                                               std::optional<std::int64_t> otherwise);
[[nodiscard]] Result<std::int64_t> parse_integer(const Step& step, std::string_view key,
                                                 std::optional<std::int64_t> otherwise);

}  // namespace nplus1::hypothesis::transform

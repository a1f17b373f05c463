// A TimedEvent that owns what it refers to, for who must keep events. A plain value.
#pragma once

#include <cstring>
#include <optional>
#include <vector>

#include "events/sink.hpp"

namespace nplus1::events::exchange {

struct StoredEvent {
  RankId rank;
  Event event;
  std::vector<std::uint32_t> words;
  std::vector<std::int64_t> sizes;
  Time exit{};
  Answer answer;
  std::vector<std::uint32_t> completed;
  std::optional<Detail> detail;
  std::uint64_t ordinal = 0;

  StoredEvent() = default;
  explicit StoredEvent(const TimedEvent& e)
      : rank{e.rank},
        event{e.event},
        words{e.extension.words.begin(), e.extension.words.end()},
        sizes{e.extension.sizes.begin(), e.extension.sizes.end()},
        exit{e.exit},
        answer{e.answer},
        completed{e.completed.begin(), e.completed.end()},
        detail{e.detail == nullptr ? std::nullopt : std::optional{*e.detail}},
        ordinal{e.ordinal} {}

  /// Valid as long as this is neither changed nor moved.
  [[nodiscard]] TimedEvent view() const {
    return {rank, event, {words, sizes}, exit, answer, completed, detail ? &*detail : nullptr, ordinal};
  }
};

/// Byte for byte: the structures have no padding.
inline bool same_bytes(const auto& a, const auto& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

inline bool operator==(const StoredEvent& a, const StoredEvent& b) {
  return a.rank == b.rank && same_bytes(a.event, b.event) && a.words == b.words && a.sizes == b.sizes &&
         a.exit == b.exit && same_bytes(a.answer, b.answer) && a.completed == b.completed &&
         a.detail.has_value() == b.detail.has_value() && (!a.detail || same_bytes(*a.detail, *b.detail)) &&
         a.ordinal == b.ordinal;
}

}  // namespace nplus1::events::exchange

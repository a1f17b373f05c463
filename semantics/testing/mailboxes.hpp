// Messages and receives of the mailbox's tests.
#pragma once

#include "semantics/mailbox.hpp"

namespace nplus1::semantics {

inline Time at(std::int64_t ps) {
  return Time{Duration{ps}};
}

struct Sender {
  std::int32_t rank;
  std::uint64_t sent = 0;
  Message message(std::int32_t tag, std::int64_t arrival, std::uint64_t comm = 0) {
    return {comm, RankId{rank}, tag, bytes(8), sent++, at(arrival), 0, false};
  }
};

inline Receive from(std::int32_t source, std::int32_t tag, std::uint64_t id, std::uint64_t comm = 0) {
  return {comm, RankId{source}, tag, id, {}};
}

inline Receive from_any(std::int32_t tag, std::uint64_t id) {
  return from(kAnySource.value, tag, id);
}

}  // namespace nplus1::semantics

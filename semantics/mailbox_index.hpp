// Private to Mailbox: the waiting messages of all sources by (time, source), for whoever asks for any source.
#pragma once

#include <compare>
#include <memory_resource>
#include <set>

#include "semantics/mailbox.hpp"

namespace nplus1::semantics {

struct Mailbox::Index {
  struct Key {
    Time at;
    RankId source;
    std::uint64_t sequence;
    Node node;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::pmr::unsynchronized_pool_resource pool;  // keeps freed nodes: no allocation per message
  std::pmr::set<Key> keys{&pool};
};

}  // namespace nplus1::semantics

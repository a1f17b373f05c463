// Critical paths, found while events stream by: for each rank the chain of activities, across ranks, that
// decided when it got to where it is. Where a rank waited for another, its path continues on the other one,
// at the moment at which that one did what was waited for (Boehme, Wolf, de Supinski, Schulz, Geimer:
// Scalable Critical-Path Based Performance Analysis, IPDPS 2012); the usual backward walk over a stored trace
// gives the same path, but needs the whole trace.
//
// Paths share their pasts: they are a tree of nodes that grows at its leaves, held by whoever may still build
// on it (a rank, a message that was not received yet). Nodes that nobody else refers to are merged into their
// only child, so memory is bounded by who holds a path and by how many activities differ, not by the length
// of the run. One thread; a Path must not outlive its Paths.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "support/units.hpp"

namespace nplus1::hypothesis {

/// Time on a path in one activity of one rank. What an activity is, is the caller's business.
struct PathShare {
  std::uint32_t activity = 0;
  std::int32_t rank = 0;
  std::int64_t time_ps = 0;
};

/// Adds up what belongs together; sorted by activity, then rank.
void combine(std::vector<PathShare>& shares);

class Paths;

struct PathNode {
  PathNode* parent = nullptr;
  Paths* owner = nullptr;
  std::uint32_t references = 0;
  std::uint64_t mark = 0;         // of the last search that came by
  std::size_t combined = 0;       // how many shares there were after combine()
  std::vector<PathShare> shares;  // since the parent's end
};

/// A path's end; copies share it. What was shared never changes: see Paths::add.
class Path {
 public:
  Path() = default;
  Path(const Path& other) : Path{other.node_} {}
  Path(Path&& other) noexcept : node_{std::exchange(other.node_, nullptr)} {}
  Path& operator=(Path other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Path();
  explicit operator bool() const { return node_ != nullptr; }

 private:
  friend class Paths;
  explicit Path(PathNode* node) : node_{node} {
    if (node_ != nullptr) ++node_->references;
  }
  PathNode* node_ = nullptr;
};

class Paths {
 public:
  Paths();
  Paths(const Paths&) = delete;
  Paths& operator=(const Paths&) = delete;

  /// The path at time 0.
  [[nodiscard]] Path root() const { return Path{root_}; }
  /// A path of which only the continuation is known yet: close() says on what it goes on.
  [[nodiscard]] Path open() { return Path{make()}; }
  void close(const Path& open, const Path& past);
  /// Makes `path` longer; other paths that share its end keep what they have. `close`d paths take what is
  /// added before their continuation.
  void add(Path& path, const PathShare& share);
  void add_within(const Path& open, const PathShare& share) { append(*open.node_, share); }

  /// What two paths hold since the last point that they have in common, not combined. False if there is none
  /// (an open past).
  [[nodiscard]] bool since_common_point(const Path& a, const Path& b, std::vector<PathShare>& of_a,
                                        std::vector<PathShare>& of_b);
  /// All of a path, combined.
  [[nodiscard]] std::vector<PathShare> whole(const Path& path) const;
  /// Nodes in use, for tests of memory.
  [[nodiscard]] std::size_t nodes() const { return nodes_.size() - free_.size(); }

 private:
  friend class Path;
  PathNode* make();
  void release(PathNode* node);
  void recycle(PathNode* node);
  static void append(PathNode& node, const PathShare& share);
  void absorb(PathNode& node);
  PathNode* step(PathNode* from, std::uint64_t mark, std::vector<PathNode*>& way);

  std::vector<std::unique_ptr<PathNode>> nodes_;
  std::vector<PathNode*> free_;
  PathNode* root_;
  std::uint64_t searches_ = 0;
  std::vector<PathNode*> ways_[2];
};

inline Path::~Path() {
  if (node_ != nullptr && --node_->references == 0) node_->owner->release(node_);
}

}  // namespace nplus1::hypothesis

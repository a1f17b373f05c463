#include "hypothesis/waitstates/critical_path.hpp"

#include <algorithm>
#include <tuple>

namespace nplus1::hypothesis {
namespace {

constexpr std::size_t kFewShares = 32;  // are not worth combining

bool same_activity(const PathShare& a, const PathShare& b) {
  return a.activity == b.activity && a.rank == b.rank;
}

}  // namespace

void combine(std::vector<PathShare>& shares) {
  std::sort(shares.begin(), shares.end(), [](const PathShare& a, const PathShare& b) {
    return std::tie(a.activity, a.rank) < std::tie(b.activity, b.rank);
  });
  std::size_t kept = 0;
  for (const PathShare& share : shares) {
    if (kept > 0 && same_activity(shares[kept - 1], share))
      shares[kept - 1].time_ps += share.time_ps;
    else
      shares[kept++] = share;
  }
  shares.resize(kept);
}

Paths::Paths() : root_{make()} {
  root_->references = 1;  // never merged, never released
}

PathNode* Paths::make() {
  if (free_.empty()) {
    nodes_.push_back(std::make_unique<PathNode>());
    nodes_.back()->owner = this;
    return nodes_.back().get();
  }
  PathNode* node = free_.back();
  free_.pop_back();
  return node;
}

void Paths::recycle(PathNode* node) {
  node->parent = nullptr;
  node->references = 0;
  node->mark = 0;
  node->combined = 0;
  if (node->shares.capacity() > 4 * kFewShares)
    node->shares = {};
  else
    node->shares.clear();
  free_.push_back(node);
}

void Paths::release(PathNode* node) {
  while (node != nullptr) {
    PathNode* parent = node->parent;
    recycle(node);
    node = parent != nullptr && --parent->references == 0 ? parent : nullptr;
  }
}

void Paths::close(const Path& open, const Path& past) {
  open.node_->parent = past.node_;
  ++past.node_->references;
}

void Paths::append(PathNode& node, const PathShare& share) {
  std::vector<PathShare>& shares = node.shares;
  if (!shares.empty() && same_activity(shares.back(), share)) {
    shares.back().time_ps += share.time_ps;
    return;
  }
  shares.push_back(share);
  if (shares.size() <= 2 * node.combined + kFewShares) return;
  combine(shares);
  node.combined = shares.size();
}

void Paths::add(Path& path, const PathShare& share) {
  if (share.time_ps <= 0) return;
  if (path.node_->references > 1) {
    absorb(*path.node_);
    // The parent may be a point that all paths share by now: its own past is nobody else's any more.
    if (path.node_->parent != nullptr) absorb(*path.node_->parent);
    PathNode* child = make();
    child->parent = path.node_;
    ++path.node_->references;
    path = Path{child};
  }
  append(*path.node_, share);
}

/// Merges ancestors that only this node refers to.
void Paths::absorb(PathNode& node) {
  while (node.parent != nullptr && node.parent->references == 1 && node.parent != root_) {
    PathNode* parent = node.parent;
    if (parent->shares.size() > node.shares.size()) {  // the smaller goes into the larger
      std::swap(parent->shares, node.shares);
      node.combined = parent->combined;
    }
    for (const PathShare& share : parent->shares) append(node, share);
    node.parent = parent->parent;  // with its reference
    recycle(parent);
  }
}

/// One node further back; null if there is none.
PathNode* Paths::step(PathNode* from, std::uint64_t mark, std::vector<PathNode*>& way) {
  absorb(*from);
  from->mark = mark;
  way.push_back(from);
  return from->parent;
}

bool Paths::since_common_point(const Path& a, const Path& b, std::vector<PathShare>& of_a,
                               std::vector<PathShare>& of_b) {
  const std::uint64_t marks[2] = {2 * ++searches_, 2 * searches_ + 1};
  PathNode* at[2] = {a.node_, b.node_};
  PathNode* meeting = a.node_ == b.node_ ? a.node_ : nullptr;
  for (auto& way : ways_) way.clear();
  while (meeting == nullptr && (at[0] != nullptr || at[1] != nullptr)) {
    for (const int side : {0, 1}) {
      if (at[side] == nullptr || meeting != nullptr) continue;
      if (at[side]->mark == marks[1 - side])
        meeting = at[side];
      else
        at[side] = step(at[side], marks[side], ways_[side]);
    }
  }
  std::vector<PathShare>* shares[2] = {&of_a, &of_b};
  for (const int side : {0, 1}) {
    shares[side]->clear();
    for (const PathNode* node : ways_[side]) {
      if (node == meeting) break;
      shares[side]->insert(shares[side]->end(), node->shares.begin(), node->shares.end());
    }
  }
  return meeting != nullptr;
}

std::vector<PathShare> Paths::whole(const Path& path) const {
  std::vector<PathShare> all;
  for (const PathNode* node = path.node_; node != nullptr; node = node->parent)
    all.insert(all.end(), node->shares.begin(), node->shares.end());
  combine(all);
  return all;
}

}  // namespace nplus1::hypothesis

#include "patterns/size_counts.hpp"

namespace nplus1::patterns {

void SizeCounts::settle() {
  if (recent_count_ == 0) return;
  const auto key = static_cast<std::uint64_t>(recent_size_);
  if (std::uint64_t* known = exact_.find(key))
    *known += recent_count_;
  else if (exact_.size() < kExactSizes)
    exact_[key] = recent_count_;
  else
    others_ += recent_count_;
}

Sizes SizeCounts::sizes() const {
  SizeCounts settled = *this;
  settled.settle();
  Sizes sizes;
  sizes.buckets = buckets_;
  settled.exact_.for_each([&sizes](std::uint64_t size, std::uint64_t count) {
    sizes.exact.push_back({static_cast<std::int64_t>(size), count});
  });
  std::sort(sizes.exact.begin(), sizes.exact.end());
  sizes.others = settled.others_;
  sizes.sum = sum_;
  if (most_ >= 0) {
    sizes.least = least_;
    sizes.most = most_;
  }
  return sizes;
}

}  // namespace nplus1::patterns

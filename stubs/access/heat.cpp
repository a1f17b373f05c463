#include "stubs/access/heat.hpp"

#include <algorithm>
#include <utility>

namespace nplus1::stubs::access {

Heat::Page* Heat::find(std::uint64_t page) noexcept {
  for (std::size_t i = 0; i < pages_used_; ++i)
    if (pages_[i].page == page) return &pages_[i];
  return nullptr;
}

Heat::Place* Heat::place(const Page& page, const void* site) noexcept {
  constexpr std::uint64_t kSpread = 0x9E37'79B9'7F4A'7C15U;  // 2^64 over the golden ratio
  const std::uint64_t hash = (page.page * kSpread ^ reinterpret_cast<std::uintptr_t>(site)) * kSpread;
  for (std::size_t i = 0; i < kProbes; ++i) {
    Place& p = places_[((hash >> 32U) + i) % kPlaces];
    if (p.used && (p.page != page.page || p.site != site)) continue;
    if (!p.used) {
      const unsigned level = page.level > 1 ? page.level - 1 : 0;
      p = {page.page, site, level, (1U << level) - 1, true};
    }
    return &p;
  }
  return nullptr;
}

unsigned Heat::allowed(std::uint64_t page, const void* /*site*/) noexcept {
  const Page* const p = find(page);
  if (p != nullptr && p->once) return 0;
  if (p == nullptr || p->level == 0) return thrifty_ ? kThriftyFirstMisses : kFirstMisses;
  return thrifty_ ? kThriftyLaterMisses : kLaterMisses;
}

void Heat::given_up(std::uint64_t page, const void* site, const void* pc) noexcept {
  Page* p = find(page);
  if (p == nullptr) {
    if (pages_used_ == kMostPages) return;
    p = &pages_[pages_used_++];
    *p = {page, pc, 0, true};  // not known: the first time shows nothing yet
  }
  p->pc = pc;
  if (std::exchange(p->once, false)) return;
  if (std::exchange(p->hit, false) && !thrifty_) return;
  Place* const at = place(*p, site);
  if (at == nullptr) return;
  at->level = std::min(at->level + 1, kMostLevel);
  at->rest = (1U << at->level) - 1;
  p->level = std::max(p->level, at->level);
}

void Heat::hit(std::uint64_t page, const void* site) noexcept {
  Page* const p = find(page);
  if (p == nullptr || thrifty_) return;
  p->hit = true;
  p->once = false;
  p->level = 0;
  if (Place* const at = place(*p, site)) at->level = at->rest = 0;
}

void Heat::kept(std::uint64_t page, const void* site) noexcept {
  Page* const p = find(page);
  if (p == nullptr) return;
  p->once = false;
  if (Place* const at = place(*p, site)) at->level /= 2;
}

bool Heat::leave_open(std::uint64_t page, const void* site) noexcept {
  const Page* const p = find(page);
  if (p == nullptr) return false;
  Place* const at = place(*p, site);
  if (at == nullptr || at->rest == 0) return false;
  --at->rest;
  return true;
}

bool Heat::once(std::uint64_t page) noexcept {
  Page* const p = find(page);
  if (p == nullptr || thrifty_) return false;
  p->once = true;
  return true;
}

const void* Heat::instruction(std::uint64_t page) const noexcept {
  for (std::size_t i = 0; i < pages_used_; ++i)
    if (pages_[i].page == page) return pages_[i].pc;
  return nullptr;
}

}  // namespace nplus1::stubs::access

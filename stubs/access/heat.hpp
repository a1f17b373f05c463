// Which pages are not worth being closed: what lies beside the cells of a message, on the same page, is used so often
// that nearly every access is a miss. Learned for each page and call site, with exponential back-off: a page that had to
// be given up is left open the next time that the same MPI call returns, then three times, seven times and so on, up to
// kLongest; one that kept within its misses comes back half way. Buffers on a page that is left open count as touched
// (inexact).
//
// Where compute times are given, misses cost real time only: then a page on which the cells themselves are hit, however
// often it is missed beside, is worth its cost, and closed each time. Where they are measured, each miss distorts them,
// and times that hold come before exact places (thrifty).
//
// No memory is taken and nothing fails: handlers call this, with the lock of stubs/access/ held.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nplus1::stubs::access {

class Heat {
 public:
  /// Misses of a page on which there is something to learn, and of one that is tried again.
  static constexpr unsigned kFirstMisses = 60, kLaterMisses = 12;
  static constexpr unsigned kThriftyFirstMisses = 24, kThriftyLaterMisses = 3;
  static constexpr unsigned kMostLevel = 10;
  static constexpr std::uint32_t kLongest = (1U << kMostLevel) - 1;
  static constexpr std::size_t kMostPages = 256;

  void be_thrifty() noexcept { thrifty_ = true; }
  /// How many misses a page may have until it is given up.
  [[nodiscard]] unsigned allowed(std::uint64_t page, const void* site) noexcept;
  /// It had more. `pc`: the instruction that missed last.
  void given_up(std::uint64_t page, const void* site, const void* pc) noexcept;
  /// An access to a cell was seen because the page was closed.
  void hit(std::uint64_t page, const void* site) noexcept;
  /// It was closed until the next call, and had not more.
  void kept(std::uint64_t page, const void* site) noexcept;
  /// The call at `site` returns: whether to leave the page open this time. Then it may be closed for one access instead
  /// (once), which costs a fault and tells when what lies there was touched at the earliest.
  [[nodiscard]] bool leave_open(std::uint64_t page, const void* site) noexcept;
  /// The page is closed until it is missed for the first time, which teaches nothing. False: it is to be left open,
  /// because each fault distorts the times.
  [[nodiscard]] bool once(std::uint64_t page) noexcept;
  /// The instruction that missed last when the page was given up; null if none is known.
  [[nodiscard]] const void* instruction(std::uint64_t page) const noexcept;

  /// The pages that were ever given up.
  [[nodiscard]] std::size_t pages() const { return pages_used_; }
  [[nodiscard]] std::uint64_t page(std::size_t i) const { return pages_[i].page; }

 private:
  struct Page {
    std::uint64_t page = 0;
    const void* pc = nullptr;
    unsigned level = 0;  // the highest that a site had
    bool hit = false;    // since it was given up last
    bool once = false;   // closed for one access
  };
  struct Place {
    std::uint64_t page = 0;
    const void* site = nullptr;
    unsigned level = 0;
    std::uint32_t rest = 0;  // times to leave it open yet
    bool used = false;
  };
  static constexpr std::size_t kPlaces = 2048, kProbes = 8;

  [[nodiscard]] Page* find(std::uint64_t page) noexcept;
  /// The place of a page that was given up; a site that is new to it begins where others have led. Null if there is
  /// no room.
  [[nodiscard]] Place* place(const Page& page, const void* site) noexcept;

  bool thrifty_ = false;
  Page pages_[kMostPages];
  std::size_t pages_used_ = 0;
  Place places_[kPlaces];
};

}  // namespace nplus1::stubs::access

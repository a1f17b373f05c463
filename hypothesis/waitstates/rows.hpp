// What time is attributed to: MPI calls by call path and function, and computation by the region it was in
// or, outside any, by the call path of the MPI call that ended it. Memory per row. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "events/event.hpp"
#include "patterns/flat_map.hpp"

namespace nplus1::hypothesis {

struct Row {
  std::uint32_t region = 0;  // innermost; 0: none
  std::uint32_t site = 0;    // call path; 0: unknown
  bool computing = false;
  events::Event call{};  // an event of the row: function and kind
};

class Rows {
 public:
  /// The row of a call.
  std::uint32_t call(std::uint32_t region, const events::Event& event) {
    const std::uint32_t what = event.call != 0 ? event.call : 1U << 15 | static_cast<unsigned>(event.kind);
    return place(region, event.site.value, what, {region, event.site.value, false, event});
  }
  /// The row of the computation that this event ended.
  std::uint32_t computing(std::uint32_t region, const events::Event& event) {
    const std::uint32_t site = region == 0 ? event.site.value : 0;
    const std::uint32_t what = kComputing | (region == 0 && site == 0 ? event.call : 0U);
    return place(region, site, what, {region, site, true, event});
  }
  [[nodiscard]] const std::vector<Row>& all() const { return rows_; }

 private:
  static constexpr std::uint32_t kComputing = 1U << 16;

  std::uint32_t place(std::uint32_t region, std::uint32_t site, std::uint32_t what, const Row& row) {
    // 20 bits of region, 27 of call path, 17 of what.
    std::uint32_t& place =
        places_[std::uint64_t{region} << 44 | std::uint64_t{site & 0x7FFFFFFU} << 17 | what];
    if (place == 0) {
      rows_.push_back(row);
      place = static_cast<std::uint32_t>(rows_.size());
    }
    return place - 1;
  }

  patterns::FlatMap<std::uint32_t> places_;  // from 1
  std::vector<Row> rows_;
};

}  // namespace nplus1::hypothesis

// A World whose ranks also tell of the parts that they seem to keep, as the stubs do in a live run: what the detector
// gets to see is what it would get from a recording. For tests only.
#pragma once

#include <vector>

#include "detector/testing/world.hpp"
#include "stubs/runtime/capture/kept_parts.hpp"

namespace nplus1::tests {

class LiveWorld : public detector::World {
 public:
  LiveWorld(events::EventSink& sink, int ranks, Type type);

 private:
  void on_sent(const Message& message, std::int64_t at) override;
  void on_receiving(const Message& message, std::int64_t at) override;
  [[nodiscard]] stubs::KeptParts::Data data_of(int rank, std::int64_t at, std::int64_t count) const;
  [[nodiscard]] std::uint64_t content_of(int rank, std::int64_t at, std::int64_t count) const;
  [[nodiscard]] std::int64_t place_of(int rank, std::uint64_t address) const;
  [[nodiscard]] bool is_inside(std::int64_t at, std::int64_t count) const;

  std::vector<stubs::KeptParts> kept_;
};

}  // namespace nplus1::tests

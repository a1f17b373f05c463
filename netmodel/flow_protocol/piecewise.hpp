// A cost that depends on the size in steps, as SMPI writes it: "0:2e-6:1e-10;65536:5e-6:0" costs 2 us + 0.1
// ns per byte up to 65536 bytes and 5 us above. Immutable; all functions may be called from any thread.
// Source: SimGrid 3.32, "Configuring SMPI", options smpi/os, smpi/ois and smpi/or.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"
#include "support/units.hpp"

namespace nplus1::netmodel {

class Piecewise {
 public:
  /// Costs nothing.
  Piecewise() = default;

  /// `SIZE:SECONDS[:SECONDS_PER_BYTE];...`; an empty text costs nothing. Errors quote the piece.
  [[nodiscard]] static Result<Piecewise> parse(std::string_view text);

  /// The piece with the largest SIZE below `size` applies, below all of them the first.
  [[nodiscard]] Duration at(Bytes size) const;
  [[nodiscard]] bool zero() const;
  [[nodiscard]] std::string describe() const;

 private:
  struct Piece {
    double above = 0;  // bytes
    double base = 0;   // seconds
    double per_byte = 0;
  };
  std::vector<Piece> pieces_;  // by `above`
};

}  // namespace nplus1::netmodel

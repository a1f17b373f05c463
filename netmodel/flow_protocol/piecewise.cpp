#include "netmodel/flow_protocol/piecewise.hpp"

#include <algorithm>
#include <array>

#include "netmodel/quantity.hpp"
#include "netmodel/rounding.hpp"
#include "netmodel/text.hpp"

namespace nplus1::netmodel {
namespace {

/// Calls `use` with each part of `text` between separators.
template <class Use>
void for_each_part(std::string_view text, char separator, Use use) {
  while (true) {
    const std::size_t end = text.find(separator);
    use(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Result<Piecewise> Piecewise::parse(std::string_view text) {
  Piecewise result;
  std::string_view bad;
  for_each_part(text, ';', [&](std::string_view piece) {
    if (piece.empty()) return;
    std::array<double, 3> numbers{};
    std::size_t n = 0;
    for_each_part(piece, ':', [&](std::string_view number) {
      const auto value = parse_quantity(number, n == 0 ? Quantity::kSize : Quantity::kTime);
      if (!value)
        bad = piece;
      else if (n < numbers.size())  // SMPI's defaults have more, and it reads two
        numbers[n] = value.value();
      ++n;
    });
    if (n < 2) bad = piece;
    result.pieces_.push_back({numbers[0], numbers[1], numbers[2]});
  });
  if (!bad.empty()) {
    return Error{in_quotes(bad) + " is not SIZE:SECONDS or SIZE:SECONDS:SECONDS_PER_BYTE",
                 "An example: 0:2e-6:1e-10;65536:5e-6:0"};
  }
  std::stable_sort(result.pieces_.begin(), result.pieces_.end(),
                   [](const Piece& a, const Piece& b) { return a.above < b.above; });
  return result;
}

Duration Piecewise::at(Bytes size) const {
  if (pieces_.empty()) return {};
  const auto s = static_cast<double>(count(size));
  const Piece* piece = &pieces_.front();
  for (const Piece& p : pieces_) {
    if (s <= p.above) break;
    piece = &p;
  }
  return rounded(piece->base + piece->per_byte * s);
}

bool Piecewise::zero() const {
  return std::all_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& p) { return p.base == 0 && p.per_byte == 0; });
}

std::string Piecewise::describe() const {
  std::string text;
  for (const Piece& p : pieces_) {
    if (!text.empty()) text += ';';
    text += format_number(p.above) + ':' + format_number(p.base) + ':' + format_number(p.per_byte);
  }
  return text;
}

}  // namespace nplus1::netmodel

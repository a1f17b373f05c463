#include "stubs/transport/meeting.hpp"

namespace nplus1::transport {

std::string Meeting::word() const {
  return to_hex(key) + "," + name + "," + address;
}

std::optional<Meeting> Meeting::parse(std::string_view word) {
  const std::size_t first = word.find(',');
  if (first == word.npos) return std::nullopt;
  const std::size_t second = word.find(',', first + 1);
  const auto key = from_hex(word.substr(0, first));
  if (second == word.npos || !key) return std::nullopt;
  return Meeting{std::string{word.substr(first + 1, second - first - 1)},
                 std::string{word.substr(second + 1)}, *key};
}

}  // namespace nplus1::transport

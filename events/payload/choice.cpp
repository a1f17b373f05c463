#include "events/payload/choice.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "events/event.hpp"

namespace nplus1::events::payload {
namespace {

constexpr std::array<std::pair<std::string_view, std::uint8_t>, 8> kWords{
    {{"prefix", kPrefix},
     {"crc32", kPrefix | kCrc32},
     {"poly61", kPrefix | kElements},
     {"samples", kPrefix | kElements | kSampling},
     {"kept", kPrefix | kElements | kKeptParts},
     {"both", kPrefix | kCrc32 | kElements},
     {"crc", Choice::kAll},
     {"all", Choice::kAll}}};

}  // namespace

std::optional<Choice> parse_choice(std::string_view text) {
  if (text == "off") return Choice{0, 0};
  Choice choice{0, Choice{}.whole_bytes};
  while (true) {
    const std::string_view word = text.substr(0, text.find(','));
    const auto* found =
        std::find_if(kWords.begin(), kWords.end(), [&](const auto& w) { return w.first == word; });
    if (found == kWords.end()) return std::nullopt;
    choice.parts |= found->second;
    if (word.size() == text.size()) return choice;
    text.remove_prefix(word.size() + 1);
  }
}

std::optional<std::uint8_t> parse_whole_bytes(std::string_view text) {
  std::uint8_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc{} || end != text.data() + text.size() || bytes > kExcerptBytes) return std::nullopt;
  return bytes;
}

}  // namespace nplus1::events::payload

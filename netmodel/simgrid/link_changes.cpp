#include "netmodel/simgrid/link_changes.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>

#include "netmodel/quantity.hpp"
#include "netmodel/text.hpp"
#include "support/units.hpp"

namespace nplus1::netmodel {
namespace {

constexpr std::string_view kLink = "link:";
constexpr std::string_view kJitter = "jitter:";

bool fits(std::string_view word, std::string_view link) {
  if (word == "*" || word == link) return true;
  return link.starts_with(word) && (link.substr(word.size()) == "_UP" || link.substr(word.size()) == "_DOWN");
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A number from 0 to 1, of everything that it depends on: the same in every run and every order (splitmix64's
/// finaliser; Steele, Lea and Flood, OOPSLA 2014).
double chance(std::uint64_t seed, RankId source, RankId destination, std::uint64_t count,
              std::uint64_t draw) {
  std::uint64_t x = seed;
  for (const std::uint64_t part : {static_cast<std::uint64_t>(source.index()),
                                   static_cast<std::uint64_t>(destination.index()), count, draw}) {
    x += part + 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    x ^= x >> 31U;
  }
  return (static_cast<double>(x >> 11U) + 0.5) * 0x1p-53;
}

Result<LinkChanges::Jitter> parse_jitter(std::string_view text) {
  const Error wrong{
      "--simgrid: " + in_quotes("jitter:" + std::string{text}) + " is not jitter:DISTRIBUTION/MEAN/SEED",
      "An example: jitter:exponential/2us/7. Distributions: exponential, uniform, lognormal."};
  const std::size_t first = text.find('/');
  const std::size_t second = text.find('/', first == text.npos ? first : first + 1);
  if (second == text.npos) return wrong;
  const std::string_view name = text.substr(0, first);
  const auto mean = parse_quantity(std::string{text.substr(first + 1, second - first - 1)}, Quantity::kTime);
  const auto seed = number<std::uint64_t>(text.substr(second + 1));
  if (!mean || !seed) return wrong;
  const double m = mean.value();
  if (name == "exponential")
    return LinkChanges::Jitter{[m, s = *seed](RankId from, RankId to, std::uint64_t n) {
      return -m * std::log(chance(s, from, to, n, 0));
    }};
  if (name == "uniform")
    return LinkChanges::Jitter{[m, s = *seed](RankId from, RankId to, std::uint64_t n) {
      return 2 * m * chance(s, from, to, n, 0);
    }};
  if (name == "lognormal")  // with sigma 1, by Box and Muller
    return LinkChanges::Jitter{[m, s = *seed](RankId from, RankId to, std::uint64_t n) {
      const double normal = std::sqrt(-2 * std::log(chance(s, from, to, n, 0))) *
                            std::cos(2 * std::numbers::pi * chance(s, from, to, n, 1));
      return m * std::exp(normal - 0.5);
    }};
  return wrong;
}

}  // namespace

bool LinkChanges::is_ours(std::string_view setting) {
  return setting.starts_with(kLink) || setting.starts_with(kJitter);
}

Result<LinkChanges> LinkChanges::parse(const std::vector<std::string>& settings) {
  LinkChanges changes;
  for (const std::string& setting : settings) {
    const std::string_view word{setting};
    if (word.starts_with(kJitter)) {
      auto jitter = parse_jitter(word.substr(kJitter.size()));
      if (!jitter) return jitter.error();
      changes.jitter_ = std::move(jitter).value();
    }
    if (!word.starts_with(kLink)) continue;
    const std::size_t equals = word.rfind('=');
    const std::string_view how = equals == word.npos ? std::string_view{} : word.substr(equals + 1);
    const auto factor = how == "off"           ? std::optional{0.0}
                        : how.starts_with("x") ? number<double>(how.substr(1))
                                               : std::nullopt;
    if (!factor || !std::isfinite(*factor) || (*factor <= 0 && how != "off"))
      return Error{in_quotes(setting) + " does not say what becomes of a link",
                   "Examples: link:NAME=x2 (twice the bandwidth), link:NAME=x0.5, link:NAME=off."};
    changes.factors_.emplace_back(word.substr(kLink.size(), equals - kLink.size()), *factor);
  }
  return changes;
}

double LinkChanges::factor(std::string_view link) const {
  double factor = 1;
  for (const auto& [word, value] : factors_)
    if (fits(word, link)) factor = value;
  return factor;
}

std::string LinkChanges::unknown(const std::vector<std::string>& names) const {
  for (const auto& [word, value] : factors_)
    if (std::ranges::none_of(names, [&w = word](const std::string& name) { return fits(w, name); }))
      return word;
  return {};
}

}  // namespace nplus1::netmodel

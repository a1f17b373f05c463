#include "netmodel/simgrid/link_changes.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

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

/// SHARE/BURST/QUIET/SEED
std::optional<LinkChanges::Bursts> parse_bursts(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == '/')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  if (parts.size() != 4) return std::nullopt;
  const auto share = number<double>(parts[0]);
  const auto burst = parse_quantity(parts[1], Quantity::kTime);
  const auto quiet = parse_quantity(parts[2], Quantity::kTime);
  const auto seed = number<std::uint64_t>(parts[3]);
  if (!share || !burst || !quiet || !seed || !(*share > 0 && *share < 1)) return std::nullopt;
  if (burst.value() <= 0 || quiet.value() <= 0) return std::nullopt;
  return LinkChanges::Bursts{*share, burst.value(), quiet.value(), *seed};
}

/// FNV-1a: of each link its own bursts, the same everywhere.
std::uint64_t number_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

}  // namespace

std::function<double(std::uint64_t)> LinkChanges::phases(const Bursts& bursts, std::string_view link) {
  return [bursts, seed = bursts.seed ^ number_of(link)](std::uint64_t phase) {
    const double mean = phase % 2 == 0 ? bursts.quiet : bursts.burst;
    return -mean * std::log(chance(seed, RankId{0}, RankId{0}, phase, 0));
  };
}

std::optional<LinkChanges::Bursts> LinkChanges::bursts(std::string_view link) const {
  std::optional<Bursts> found;
  for (const auto& [word, value] : bursts_)
    if (fits(word, link)) found = value;
  return found;
}

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
    const std::string_view name = word.substr(kLink.size(), equals - kLink.size());
    constexpr std::string_view kBursts = "bursts/";
    if (how.starts_with(kBursts)) {
      const auto bursts = parse_bursts(how.substr(kBursts.size()));
      if (!bursts)
        return Error{
            in_quotes(setting) + " is not link:NAME=bursts/SHARE/BURST/QUIET/SEED",
            "An example: link:NAME=bursts/0.5/1ms/10ms/7, half of the bandwidth for 1 ms, every 11 ms."};
      changes.bursts_.emplace_back(name, *bursts);
      continue;
    }
    const auto factor = how == "off"           ? std::optional{0.0}
                        : how.starts_with("x") ? number<double>(how.substr(1))
                                               : std::nullopt;
    if (!factor || !std::isfinite(*factor) || (*factor <= 0 && how != "off"))
      return Error{in_quotes(setting) + " does not say what becomes of a link",
                   "Examples: link:NAME=x2 (twice the bandwidth), link:NAME=x0.5, link:NAME=off."};
    changes.factors_.emplace_back(name, *factor);
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
  const auto fits_none = [&names](const std::string& word) {
    return std::ranges::none_of(names, [&word](const std::string& name) { return fits(word, name); });
  };
  for (const auto& [word, value] : factors_)
    if (fits_none(word)) return word;
  for (const auto& [word, value] : bursts_)
    if (fits_none(word)) return word;
  return {};
}

}  // namespace nplus1::netmodel

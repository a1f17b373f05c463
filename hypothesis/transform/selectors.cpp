#include "hypothesis/transform/selectors.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "events/function_name.hpp"
#include "events/limits.hpp"
#include "netmodel/quantity.hpp"

namespace nplus1::hypothesis::transform {
namespace {

using events::EventKind;

constexpr std::size_t kMostNumbers = std::size_t{1} << 24U;

std::optional<std::uint64_t> integer(std::string_view text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

bool ends_with_path(const std::string& path, std::string_view end) {
  if (path.size() < end.size() || path.compare(path.size() - end.size(), end.size(), end) != 0) return false;
  return path.size() == end.size() || path[path.size() - end.size() - 1] == '/';
}

/// "foo(int)", "ns::foo<double>" and Python's "Solver.foo" are found by "foo" too, and by what reports call them.
bool is_function(std::string_view function, std::string_view name, bool of_python) {
  if (function == name) return true;
  if (const std::size_t dot = function.rfind('.'); of_python && dot != function.npos && !name.empty())
    return function.substr(dot + 1) == name;
  if (name.empty()) return false;
  const auto is = [&](std::string_view whole) {
    return whole == name ||
           (whole.ends_with(name) && whole.substr(0, whole.size() - name.size()).ends_with("::"));
  };
  return is(events::without_parameters(function)) || is(events::spoken_name(function));
}

bool is_at(const events::Frame& frame, std::string_view place) {
  if (const std::size_t colon = place.rfind(':'); colon != place.npos) {
    const auto line = integer(place.substr(colon + 1));
    if (line && *line == frame.line && ends_with_path(frame.file, place.substr(0, colon))) return true;
  }
  if (const std::size_t plus = place.rfind("+0x"); plus != place.npos) {
    std::uint64_t offset = 0;
    const auto read = std::from_chars(place.data() + plus + 3, place.data() + place.size(), offset, 16);
    return read.ec == std::errc{} && offset == frame.offset &&
           ends_with_path(frame.module, place.substr(0, plus));
  }
  return is_function(frame.function, place, frame.module.empty());
}

/// Of the key's place, if it is set.
Numbers sites_of(const Step& step, std::string_view key, const events::DefinitionsCollector& names) {
  const std::string* place = step.find(key);
  return place == nullptr ? Numbers{} : paths_at(*place, names);
}

/// "1KiB", "1KiB..64KiB", "..64KiB".
std::optional<Error> read_sizes(const Step& step, MessageSelector& selector) {
  const std::string* text = step.find("size");
  if (text == nullptr) return std::nullopt;
  const std::size_t dots = text->find("..");
  const auto bound = [&](std::string_view part, std::int64_t& value) {
    if (part.empty()) return true;
    const auto read = netmodel::parse_quantity(part, netmodel::Quantity::kSize);
    if (read) value = events::rounded_size(read.value());
    return read.ok();
  };
  const std::string_view all{*text};
  const bool read = dots == text->npos ? bound(all, selector.smallest) && bound(all, selector.largest)
                                       : bound(all.substr(0, dots), selector.smallest) &&
                                             bound(all.substr(dots + 2), selector.largest);
  if (!read || all.empty()) return bad_setting(step, "size", "a size or a range: 8, 1KiB..64KiB, 1MiB..");
  return std::nullopt;
}

}  // namespace

void Numbers::set(std::size_t number) {
  all_ = false;
  if (number >= bits_.size()) bits_.resize(number + 1);
  bits_[number] = true;
}

void Numbers::set(std::size_t first, std::size_t last) {
  set(last);
  const auto begin = bits_.begin() + static_cast<std::ptrdiff_t>(first);
  std::fill(begin, bits_.begin() + static_cast<std::ptrdiff_t>(last), true);
}

Error bad_setting(const Step& step, std::string_view key, std::string_view should_be) {
  const std::string* text = step.find(key);
  return {step.where + ": " + step.verb + ": " +
              (text == nullptr ? std::string{key} + " is missing" : std::string{key} + "=" + *text),
          std::string{key} + " is " + std::string{should_be}};
}

Result<double> parse_factor(const Step& step, std::string_view key, std::optional<double> otherwise) {
  const std::string* text = step.find(key);
  if (text == nullptr && otherwise) return *otherwise;
  double value = 0;
  const char* end = text == nullptr ? nullptr : text->data() + text->size();
  const bool sound = text != nullptr && std::from_chars(text->data(), end, value).ptr == end &&
                     !text->empty() && std::isfinite(value) && value >= 0;
  if (!sound) return bad_setting(step, key, "a number that is not negative, such as 0.5");
  return value;
}

Result<std::int64_t> parse_bytes(const Step& step, std::string_view key,
                                 std::optional<std::int64_t> otherwise) {
  const std::string* text = step.find(key);
  if (text == nullptr && otherwise) return *otherwise;
  if (text != nullptr)
    if (const auto read = netmodel::parse_quantity(*text, netmodel::Quantity::kSize);
        read && read.value() <= static_cast<double>(events::kMostBytes))
      return events::rounded_size(read.value());
  return bad_setting(step, key, "a size, such as 64KiB");
}

Result<std::int64_t> parse_integer(const Step& step, std::string_view key,
                                   std::optional<std::int64_t> otherwise) {
  const std::string* text = step.find(key);
  if (text == nullptr && otherwise) return *otherwise;
  const auto value = text == nullptr ? std::nullopt : integer(*text);
  if (!value || *value > std::numeric_limits<std::int32_t>::max())
    return bad_setting(step, key, "a whole number");
  return static_cast<std::int64_t>(*value);
}

Result<Numbers> parse_numbers(const Step& step, std::string_view key) {
  Numbers numbers;
  const std::string* text = step.find(key);
  if (text == nullptr) return numbers;
  for (std::size_t at = 0; at <= text->size();) {
    const std::size_t end = std::min(text->find(':', at), text->size());
    const std::string_view item = std::string_view{*text}.substr(at, end - at);
    const std::size_t dash = item.find('-');
    const auto first = integer(item.substr(0, dash));
    const auto last = dash == item.npos ? first : integer(item.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= kMostNumbers)
      return bad_setting(step, key, "a list of ranks: 3, 0-7 or 0-3:8:12");
    numbers.set(*first, *last);
    at = end + 1;
  }
  return numbers;
}

Numbers paths_at(std::string_view place, const events::DefinitionsCollector& names) {
  Numbers paths;
  paths.none();
  if (place.substr(0, 1) == "#") {
    for (std::size_t at = 1; at <= place.size();) {
      const std::size_t end = std::min(place.find(':', at), place.size());
      if (const auto number = integer(place.substr(at, end - at)); number && *number < kMostNumbers)
        paths.set(*number);
      at = end + 1;
    }
    return paths;
  }
  for (const auto& [id, path] : names.call_paths())
    if (std::any_of(path.frames.begin(), path.frames.end(), [&](const auto& f) { return is_at(f, place); }))
      paths.set(id.index());
  return paths;
}

bool MessageSelector::matches(const End& send, const End& receive, std::int32_t tag_of, std::uint32_t comm_of,
                              std::int64_t size) const {
  const auto rank_in = [](const Numbers& ranks, std::int32_t rank) {
    return ranks.all() || (rank >= 0 && ranks.has(static_cast<std::size_t>(rank)));
  };
  return rank_in(from, send.rank) && rank_in(to, receive.rank) && (!tag || *tag == tag_of) &&
         (!comm || *comm == comm_of) && size >= smallest && size <= largest && sends.has(send.site) &&
         receives.has(receive.site) && (sites.has(send.site) || sites.has(receive.site));
}

Result<MessageSelector> MessageSelector::of(const Step& step, const events::DefinitionsCollector& names) {
  MessageSelector selector;
  auto from = parse_numbers(step, "from");
  if (!from) return from.error();
  auto to = parse_numbers(step, "to");
  if (!to) return to.error();
  selector.from = std::move(from).value();
  selector.to = std::move(to).value();
  if (step.find("tag") != nullptr) {
    const auto tag = parse_integer(step, "tag", {});
    if (!tag) return tag.error();
    selector.tag = static_cast<std::int32_t>(tag.value());
  }
  if (step.find("comm") != nullptr) {
    const auto comm = parse_integer(step, "comm", {});
    if (!comm) return comm.error();
    selector.comm = static_cast<std::uint32_t>(comm.value());
  }
  if (const auto wrong = read_sizes(step, selector)) return *wrong;
  selector.sites = sites_of(step, "site", names);
  selector.sends = sites_of(step, "sends", names);
  selector.receives = sites_of(step, "receives", names);
  return selector;
}

Result<IntervalSelector> IntervalSelector::of(const Step& step, const events::DefinitionsCollector& names) {
  IntervalSelector selector;
  auto ranks = parse_numbers(step, "ranks");
  if (!ranks) return ranks.error();
  selector.ranks = std::move(ranks).value();
  selector.before = sites_of(step, "before", names);
  selector.after = sites_of(step, "after", names);
  const std::string* region = step.find("region");
  if (region == nullptr) return selector;
  selector.functions = paths_at(*region, names);
  selector.regions.none();
  for (const auto& [id, definition] : names.regions())
    if (is_function(definition.name, *region, false)) selector.regions.set(id.index());
  return selector;
}

std::optional<IntervalKind> IntervalTracker::next(RankId rank, const events::Event& event) {
  if (rank.index() >= ranks_.size()) ranks_.resize(rank.index() + 1);
  auto& lanes = ranks_[rank.index()];
  if (event.thread.index() >= lanes.size()) lanes.resize(event.thread.index() + 1);
  Lane& lane = lanes[event.thread.index()];
  const std::uint32_t site = event.site.value;
  // Time of a call that is not modelled is no computing.
  const bool matched = event.kind != EventKind::kUnmodelledExit && selector_.ranks.has(rank.index()) &&
                       (selector_.regions.all() || lane.inside > 0 || selector_.functions.has(site)) &&
                       selector_.before.has(site) && selector_.after.has(lane.last_site);
  const IntervalKind kind{lane.last_site, site};
  const auto selected = [this](std::uint32_t region) {
    return !selector_.regions.all() && selector_.regions.has(region) ? 1U : 0U;
  };
  if (event.kind == EventKind::kRegionBegin) {
    lane.regions.push_back(static_cast<std::uint32_t>(event.aux));
    lane.inside += selected(lane.regions.back());
  } else if (event.kind == EventKind::kRegionEnd && !lane.regions.empty()) {
    lane.inside -= selected(lane.regions.back());
    lane.regions.pop_back();
  } else if (site != 0) {
    lane.last_site = site;
  }
  return matched ? std::optional{kind} : std::nullopt;
}

}  // namespace nplus1::hypothesis::transform

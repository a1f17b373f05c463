#include "hypothesis/transform/what_exists.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <vector>

namespace nplus1::hypothesis::transform {
namespace {

using events::EventKind;
constexpr std::size_t kMostNamed = 8;

/// The keys with the largest values, by name, each name once.
template <class Key, class Name>
std::string largest(const std::map<Key, std::int64_t>& values, const Name& name) {
  std::map<std::string, std::int64_t> by_name;
  for (const auto& [key, value] : values) by_name[name(key)] += value;
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [text, value] : by_name) order.emplace_back(-value, text);
  std::sort(order.begin(), order.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostNamed, order.size()); ++i)
    text += (i == 0 ? "" : ", ") + order[i].second;
  if (order.size() > kMostNamed) text += fmt::format(" and {} more", order.size() - kMostNamed);
  return order.empty() ? "none" : text;
}

}  // namespace

std::string place_of_path(std::uint32_t path, const events::DefinitionsCollector& names) {
  const events::CallPath* known = names.call_path(CallSiteId{path});
  if (known != nullptr && !known->frames.empty()) {
    const events::Frame& f = known->frames.front();
    if (f.line > 0) return fmt::format("{}:{}", std::filesystem::path{f.file}.filename().string(), f.line);
    if (!f.module.empty())
      return fmt::format("{}+0x{:x}", std::filesystem::path{f.module}.filename().string(), f.offset);
  }
  return fmt::format("#{}", path);
}

void WhatExists::on_event(const events::TimedEvent& timed) {
  const events::Event& event = timed.event;
  ranks_ = std::max(ranks_, timed.rank.value + 1);
  if (event.site.value != 0 && event.compute_ps > 0) computing_[event.site.value] += event.compute_ps;
  if (event.kind == EventKind::kRegionBegin) ++regions_[static_cast<std::uint32_t>(event.aux)];
  const bool send = event.kind == EventKind::kSend || event.kind == EventKind::kIsend;
  const bool receive = event.kind == EventKind::kRecv || event.kind == EventKind::kIrecv;
  if ((send || receive) && event.site.value != 0) ++calls_[event.site.value];
  if (!send || event.peer < 0) return;
  ++tags_[event.tag];
  smallest_ = smallest_ < 0 ? event.size : std::min(smallest_, event.size);
  largest_ = std::max(largest_, event.size);
}

std::string WhatExists::computing() const {
  const auto region = [this](std::uint32_t id) {
    const events::Region* known = names_.region(RegionId{id});
    return known == nullptr ? fmt::format("region {}", id) : known->name;
  };
  return fmt::format("there are: ranks 0-{}; regions: {}; computing before: {}", ranks_ - 1,
                     largest(regions_, region),
                     largest(computing_, [this](std::uint32_t p) { return place_of_path(p, names_); }));
}

std::string WhatExists::messages() const {
  if (largest_ < 0) return "there are no point-to-point messages";
  return fmt::format("there are: ranks 0-{}; tags: {}; sizes: {}..{}; call sites: {}", ranks_ - 1,
                     largest(tags_, [](std::int32_t tag) { return std::to_string(tag); }), smallest_,
                     largest_, largest(calls_, [this](std::uint32_t p) { return place_of_path(p, names_); }));
}

}  // namespace nplus1::hypothesis::transform

#include "analyses/by_hand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace nplus1::analyses {

Result<ByHand> by_hand(const detector::Finding& finding) {
  const auto kind = hypothesis::transform::replaceable(finding.kind);
  if (!kind)
    return Error{std::string{detector::name(finding.kind)} + " cannot be replayed", "compare it by hand"};
  ByHand instances;
  for (const detector::Occurrence& o : finding.occurrences) {
    auto& i = instances.emplace_back();
    i.kind = *kind;
    for (const std::int32_t r : finding.groups.at(o.group)) i.ranks.emplace_back(r);
    i.root = o.root;
    i.bytes = static_cast<std::int64_t>(o.bytes);
    for (const detector::Message& m : o.messages) i.messages.push_back({m.source, m.send_ordinal});
  }
  return instances;
}

namespace {

std::string shown(const std::vector<std::string>& lines) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i)
    text += (i == 0 ? "" : ", ") + std::filesystem::path{lines[i]}.filename().string();
  return lines.size() > kMost ? text + " ..." : text;
}

}  // namespace

std::string title(const detector::Finding& f) {
  return fmt::format("replace the hand-written {} of {} by the library's ({}, {} {})", detector::name(f.kind),
                     shown(f.lines), detector::name(f.certainty), f.count, f.count == 1 ? "time" : "times");
}

}  // namespace nplus1::analyses

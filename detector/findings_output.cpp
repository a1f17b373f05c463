#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "detector/findings.hpp"

namespace nplus1::detector {
namespace {

/// What can be drawn: who sends to whom, in the order of sending.
nlohmann::ordered_json pattern(const Occurrence& o) {
  constexpr std::size_t kMostDrawn = 400;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Message& m : o.messages) {
    if (list.size() == kMostDrawn) break;
    list.push_back({m.source, m.destination, m.bytes, m.step});
  }
  return list;
}

nlohmann::ordered_json as_json(const Finding& f) {
  nlohmann::ordered_json object;
  object["kind"] = name(f.kind);
  object["op"] = f.operation ? nlohmann::ordered_json(name(*f.operation)) : nlohmann::ordered_json();
  object["certainty"] = name(f.certainty);
  object["ranks"] = f.ranks;
  object["roots"] = f.roots;
  object["count"] = f.count;
  object["bytes"] = f.bytes;
  object["messages"] = f.messages;
  object["lines"] = f.lines;
  object["callers"] = f.callers;
  object["replacement"] = f.replacement;
  object["saving_s"] = f.saving_s ? nlohmann::ordered_json(*f.saving_s) : nlohmann::ordered_json();
  object["evidence"] = f.evidence;
  object["alternatives"] = f.alternatives;
  if (f.saving_s) object["saving_error_s"] = f.saving_error_s;
  if (!f.occurrences.empty()) object["pattern"] = pattern(f.occurrences.front());
  return object;
}

/// "0-3, 7": runs of neighbours.
std::string ranges(const std::vector<std::int32_t>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += last == i ? std::to_string(ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
    i = last + 1;
  }
  return text;
}

std::string saving(const Finding& f) {
  return fmt::format("  saves    {:.4g} s of virtual time (error of the replay: {:.2g} s)\n", *f.saving_s,
                     f.saving_error_s);
}

/// A line for each, up to what a screen has room for; the JSON has them all.
std::string labelled(std::string_view label, const std::vector<std::string>& items) {
  constexpr std::size_t kMostShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(items.size(), kMostShown); ++i)
    text +=
        fmt::format("  {:<8} {}\n", i == 0 || (label != "lines" && label != "from") ? label : "", items[i]);
  if (items.size() > kMostShown) text += fmt::format("  {:<8} and {} more\n", "", items.size() - kMostShown);
  return text;
}

std::string as_text(const Finding& f) {
  std::string text = fmt::format("{}{} ({}), {} {}: ranks {}", name(f.kind),
                                 f.operation ? fmt::format(" {}", name(*f.operation)) : "", name(f.certainty),
                                 f.count, f.count == 1 ? "time" : "times", ranges(f.ranks));
  if (!f.roots.empty()) text += fmt::format("; root {}", ranges(f.roots));
  text += fmt::format("; {} bytes, {} messages in all\n", f.bytes, f.messages);
  text += labelled("lines", f.lines) + labelled("from", f.callers) + labelled("instead", {f.replacement});
  if (f.saving_s) text += saving(f);
  return text + labelled("because", f.evidence) + labelled("or", f.alternatives);
}

}  // namespace

std::string collectives_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& f : findings) list.push_back(as_json(f));
  return list.dump(1) + "\n";
}

std::string collectives_text(const std::vector<Finding>& findings) {
  if (findings.empty()) return "No hand-written collective operations were found.\n";
  constexpr std::size_t kMostShown = 40;
  std::string text;
  for (std::size_t i = 0; i < std::min(findings.size(), kMostShown); ++i)
    text += (text.empty() ? "" : "\n") + as_text(findings[i]);
  if (findings.size() > kMostShown)
    text += fmt::format("\n{} more, the less certain: --json FILE writes them all.\n",
                        findings.size() - kMostShown);
  return text;
}

}  // namespace nplus1::detector

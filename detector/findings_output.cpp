#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "detector/findings.hpp"
#include "support/number_of.hpp"

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
  object["groups"] = f.groups;
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
  if (f.saving_s)
    object["saving_error_s"] =
        f.saving_error_s ? nlohmann::ordered_json(*f.saving_error_s) : nlohmann::ordered_json();
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
  const std::string error =
      f.saving_error_s ? fmt::format("{:.2g} s", *f.saving_error_s) : std::string{"not known"};
  return fmt::format("  saves    {:.4g} s of virtual time (error of the replay: {})\n", *f.saving_s, error);
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

/// "ranks 0-3", or "4 groups of ranks: 0-3; 4-7; 8-11; 12-15", the first of them where there are many.
std::string ranks_of(const Finding& f) {
  constexpr std::size_t kMostShown = 8;
  if (f.groups.size() < 2) return fmt::format("ranks {}", ranges(f.ranks));
  std::string text;
  for (std::size_t g = 0; g < std::min(f.groups.size(), kMostShown); ++g)
    text += (g == 0 ? "" : "; ") + ranges(f.groups[g]);
  if (f.groups.size() > kMostShown) text += "; ...";
  return fmt::format("{} groups of ranks: {}", f.groups.size(), text);
}

std::string headline(const Finding& f) {
  std::string text = fmt::format("{}{} ({}), {} {}: {}", name(f.kind),
                                 f.operation ? fmt::format(" {}", name(*f.operation)) : "", name(f.certainty),
                                 f.count, f.count == 1 ? "time" : "times", ranks_of(f));
  if (!f.roots.empty()) text += fmt::format("; root {}", ranges(f.roots));
  return text + fmt::format("; {}, {} in all", number_of(f.bytes, "byte"), number_of(f.messages, "message"));
}

std::string as_text(const Finding& f) {
  std::string text = headline(f) + "\n";
  text += labelled("lines", f.lines) + labelled("from", f.callers) + labelled("instead", {f.replacement});
  if (f.saving_s) text += saving(f);
  return text + labelled("because", f.evidence) + labelled("or", f.alternatives);
}

/// What is only possible, a line each: of the first few also where.
std::string summary(std::span<const Finding> possible) {
  constexpr std::size_t kMostShown = 3;
  std::string text =
      fmt::format("{} more {} only possible (the structure fits, nothing more); --all shows {} in full\n",
                  possible.size(), possible.size() == 1 ? "is" : "are", possible.size() == 1 ? "it" : "them");
  for (std::size_t i = 0; i < std::min(possible.size(), kMostShown); ++i)
    text += fmt::format("  {}{}\n", headline(possible[i]),
                        possible[i].lines.empty() ? "" : fmt::format("; {}", possible[i].lines.front()));
  if (possible.size() > kMostShown) text += fmt::format("  and {} more\n", possible.size() - kMostShown);
  return text;
}

}  // namespace

std::string collectives_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& f : findings) list.push_back(as_json(f));
  return list.dump(1) + "\n";
}

std::string collectives_text(const std::vector<Finding>& findings, Detail detail) {
  if (findings.empty()) return "No hand-written collective operations were found.\n";
  constexpr std::size_t kMostShown = 40;
  std::vector<Finding> shown;
  std::vector<Finding> possible;
  for (const Finding& f : findings)
    (detail == Detail::kSummary && f.certainty == Certainty::kPossible ? possible : shown).push_back(f);
  std::string text;
  const std::size_t most = detail == Detail::kAll ? shown.size() : kMostShown;
  for (std::size_t i = 0; i < std::min(shown.size(), most); ++i)
    text += (text.empty() ? "" : "\n") + as_text(shown[i]);
  if (shown.size() > most)
    text += fmt::format("\n{} more, the less certain: --all shows them, --json FILE writes them.\n",
                        shown.size() - most);
  if (possible.empty()) return text;
  return text + (text.empty() ? "Nothing that is more than possible was found.\n\n" : "\n") +
         summary(possible);
}

}  // namespace nplus1::detector

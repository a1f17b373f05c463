#include "patterns/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "patterns/first_screen.hpp"
#include "patterns/links_drawing.hpp"
#include "report/exact_time.hpp"
#include "report/json_object.hpp"
#include "report/page.hpp"
#include "support/number_of.hpp"
#include "support/time_sum.hpp"

namespace nplus1::patterns {
namespace {

using netmodel::LinkUsage;
using report::exact_seconds;
using Object = report::JsonObject;

constexpr std::size_t kMostDrawnOverTime = 256;  // links with their load over time
constexpr std::size_t kMostLinkPairs = 16;       // of a link
constexpr std::size_t kMostLinkLines = 5;

/// What one call site has to do with a link, or with all.
struct OfCause {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  Duration flowing{};
  Duration held_up{};
  void add(const LinkUsage::Stream& stream, Duration late) {
    messages += stream.messages;
    bytes += stream.bytes;
    sum_up(flowing, stream.flowing);
    sum_up(held_up, late);
  }
};

struct OfPair {
  std::int32_t source;
  std::int32_t destination;
  std::uint64_t bytes;
  Duration held_up;
};

/// Who used a link, or was held up by it.
struct Users {
  std::map<std::uint32_t, OfCause> causes;
  std::vector<OfPair> pairs;
  std::vector<std::int32_t> senders;
};

Duration held_up_by(const LinkUsage::Stream& stream, LinkUsage::Number link) {
  for (const auto& [number, time] : stream.by)
    if (number == link) return time;
  return {};
}

std::vector<Users> users_of(const LinkUsage& usage) {
  std::vector<Users> users(usage.links.size());
  for (const LinkUsage::Stream& stream : usage.streams) {
    std::vector<LinkUsage::Number> links = usage.routes[stream.route];
    for (const LinkUsage::Number link : links) {
      Users& user = users[link];
      user.causes[stream.cause].add(stream, {});
      user.senders.push_back(stream.source.value);
      user.pairs.push_back(
          {stream.source.value, stream.destination.value, stream.bytes, held_up_by(stream, link)});
    }
    // Also the links on which only what comes back meets others.
    for (const auto& [link, time] : stream.by) sum_up(users[link].causes[stream.cause].held_up, time);
  }
  for (Users& user : users) {
    std::ranges::sort(user.senders);
    user.senders.erase(std::unique(user.senders.begin(), user.senders.end()), user.senders.end());
    std::ranges::stable_sort(user.pairs, [](const OfPair& a, const OfPair& b) {
      return std::pair{a.held_up, a.bytes} > std::pair{b.held_up, b.bytes};
    });
    if (user.pairs.size() > kMostLinkPairs) user.pairs.resize(kMostLinkPairs);
  }
  return users;
}

std::map<std::uint32_t, OfCause> causes_of(const LinkUsage& usage) {
  std::map<std::uint32_t, OfCause> causes;
  for (const LinkUsage::Stream& stream : usage.streams) causes[stream.cause].add(stream, stream.held_up);
  return causes;
}

/// The links in the order of what they cost, then of what they carried.
std::vector<LinkUsage::Number> ranked(const LinkUsage& usage) {
  std::vector<LinkUsage::Number> order(usage.links.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](LinkUsage::Number a, LinkUsage::Number b) {
    const LinkUsage::Link &x = usage.links[a], &y = usage.links[b];
    return std::tuple{x.held_up, x.full, x.carried / x.bandwidth} >
           std::tuple{y.held_up, y.full, y.carried / y.bandwidth};
  });
  return order;
}

std::string link_site_title(const Patterns& patterns, std::uint32_t cause) {
  for (const CallSiteUse& site : patterns.call_sites)
    if (site.path == cause && cause != 0) return fmt::format("{} at {}", site.call, place_of(site));
  return cause == 0 ? "calls of unknown place" : fmt::format("call path {}", cause);
}

double share_of_time(Duration part, Duration whole) {
  return whole > Duration::zero() ? seconds(part) / seconds(whole) : 0;
}

double utilisation(const LinkUsage& usage, const LinkUsage::Link& link) {
  const double most = link.bandwidth * seconds(usage.end);
  return most > 0 ? link.carried / most : 0;
}

std::string link_cause_members(const OfCause& of) {
  return fmt::format("\"messages\": {}, \"bytes\": {}, \"held_up_s\": {}", of.messages, of.bytes,
                     exact_seconds(of.held_up));
}

std::string link_site_object(const Patterns& patterns, const std::pair<const std::uint32_t, OfCause>& of) {
  return fmt::format("\n    {{\"path\": {}, \"title\": {}, {}, \"flowing_s\": {}}}", of.first,
                     Object::quoted(link_site_title(patterns, of.first)), link_cause_members(of.second),
                     exact_seconds(of.second.flowing));
}

std::string link_load_list(const LinkUsage& usage, const LinkUsage::Link& link) {
  const auto bins = static_cast<std::size_t>((usage.end + usage.bin - Duration{1}) / usage.bin);
  std::vector<float> load = link.load;
  load.resize(bins);
  return Object::joined(load, [](float part) { return fmt::format("{:.4g}", part); });
}

std::string link_object(const LinkUsage& usage, const LinkUsage::Link& link, const Users& users,
                        bool over_time) {
  std::string text = fmt::format(
      "\n    {{\"name\": {}, \"bandwidth\": {}, \"fat_pipe\": {}, \"messages\": {}, \"bytes\": {}, "
      "\"carried_bytes\": {}, \"utilisation\": {:.6g}, \"busy_s\": {}, \"full_s\": {}, \"held_up_s\": {}, ",
      Object::quoted(link.name), link.bandwidth, link.fat_pipe, link.messages, link.bytes, link.carried,
      utilisation(usage, link), exact_seconds(link.busy), exact_seconds(link.full),
      exact_seconds(link.held_up));
  text += "\"senders\": " + Object::joined(users.senders, [](std::int32_t r) { return std::to_string(r); });
  text += ", \"sites\": " + Object::joined(users.causes, [](const auto& of) {
            return fmt::format("{{\"path\": {}, {}}}", of.first, link_cause_members(of.second));
          });
  text +=
      ", \"pairs\": " + Object::joined(users.pairs, [](const OfPair& p) {
        return fmt::format("[{}, {}, {}, {}]", p.source, p.destination, p.bytes, exact_seconds(p.held_up));
      });
  return text + ", \"load\": " + (over_time ? link_load_list(usage, link) : "null") + "}";
}

Duration held_up_in_all(const LinkUsage& usage) {
  Duration sum{};
  for (const LinkUsage::Stream& stream : usage.streams) sum_up(sum, stream.held_up);
  return sum;
}

std::string link_percent(double part) {
  return fmt::format("{:.1f} %", 100 * part);
}

double share_of_messages(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string links_json(const LinkUsage& usage, const Patterns& patterns) {
  const std::vector<Users> users = users_of(usage);
  const std::vector<LinkUsage::Number> order = ranked(usage);
  std::vector<bool> over_time(usage.links.size(), false);
  for (std::size_t i = 0; i < std::min(kMostDrawnOverTime, order.size()); ++i) over_time[order[i]] = true;
  Object object;
  object.text("schema", kLinksSchema);
  object.text("application", patterns.application);
  object.text("network", patterns.network);
  object.raw("virtual_time_s", exact_seconds(usage.end));
  object.raw("bin_s", exact_seconds(usage.bin));
  object.number("messages", usage.messages);
  object.number("met", usage.met);
  object.number("held_up", usage.slowed);
  object.raw("held_up_s", exact_seconds(held_up_in_all(usage)));
  object.list("host", usage.hosts, Object::quoted);
  const auto causes = causes_of(usage);
  object.list(
      "sites", causes, [&](const auto& of) { return link_site_object(patterns, of); }, ",");
  object.list(
      "links", order,
      [&](LinkUsage::Number n) { return link_object(usage, usage.links[n], users[n], over_time[n]); }, ",");
  object.raw("drawing", drawing_json(usage, order));
  return object.document();
}

std::string links_csv(const LinkUsage& usage) {
  std::string text =
      "name,bandwidth,fat_pipe,messages,bytes,carried_bytes,utilisation,busy_s,full_s,held_up_s\n";
  for (const LinkUsage::Number n : ranked(usage)) {
    const LinkUsage::Link& l = usage.links[n];
    text += fmt::format("{},{},{},{},{},{},{:.6g},{},{},{}\n", l.name, l.bandwidth, l.fat_pipe ? 1 : 0,
                        l.messages, l.bytes, l.carried, utilisation(usage, l), exact_seconds(l.busy),
                        exact_seconds(l.full), exact_seconds(l.held_up));
  }
  return text;
}

std::vector<std::string> links_text(const LinkUsage& usage, const Patterns& patterns) {
  std::vector<std::string> lines;
  const auto used =
      std::ranges::count_if(usage.links, [](const LinkUsage::Link& l) { return l.messages > 0; });
  lines.push_back(fmt::format(
      "Links: {} used; of {} {} met others on a link; {} were held up, by these or by "
      "acknowledgements, {} in all",
      used, number_of(usage.messages, "message"), link_percent(share_of_messages(usage.met, usage.messages)),
      link_percent(share_of_messages(usage.slowed, usage.messages)),
      report::readable(held_up_in_all(usage))));
  if (usage.slowed == 0) {
    lines.push_back(
        usage.met == 0
            ? "  The topology changes nothing: no two messages were ever on one link at the same time."
            : "  The topology changes nothing but latencies: those that met had room beside each other.");
    return lines;
  }
  lines.emplace_back("    held up     full    used  link                              mostly by");
  const std::vector<Users> users = users_of(usage);
  std::size_t shown = 0;
  for (const LinkUsage::Number n : ranked(usage)) {
    const LinkUsage::Link& link = usage.links[n];
    if (link.held_up == Duration::zero() || shown++ == kMostLinkLines) break;
    const auto most =
        std::ranges::max_element(users[n].causes, {}, [](const auto& of) { return of.second.held_up; });
    lines.push_back(fmt::format("  {:>9}{:>9}{:>8}  {:<32}  {}", report::readable(link.held_up),
                                link_percent(share_of_time(link.full, usage.end)),
                                link_percent(utilisation(usage, link)), link.name,
                                link_site_title(patterns, most->first)));
  }
  return lines;
}

}  // namespace nplus1::patterns

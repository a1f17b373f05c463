#include "patterns/patterns_csv.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "patterns/first_screen.hpp"
#include "patterns/layers.hpp"
#include "report/exact_time.hpp"
#include "report/results.hpp"

namespace nplus1::patterns {
namespace {

using report::exact_seconds;

/// RFC 4180: quotes are doubled.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result.append(c == '"' ? 2 : 1, c);
  return result + '"';
}

std::string ranks_csv(const Patterns& p) {
  std::string text =
      "rank,end_s,compute_s,mpi_s,waiting_s,messages_sent,bytes_sent,messages_received,bytes_received,"
      "collective_calls,destinations,sources,partners\n";
  for (std::size_t i = 0; i < p.ranks(); ++i) {
    const RankTotals& r = p.rank[i];
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", i, exact_seconds(r.end),
                        exact_seconds(r.compute), exact_seconds(r.mpi), exact_seconds(r.waiting),
                        r.messages_sent, r.bytes_sent, r.messages_received, r.bytes_received,
                        r.collective_calls, r.destinations, r.sources, r.partners);
  }
  return text;
}

std::string sizes_csv(const Sizes& sizes) {
  std::string text = "size,count\n";
  for (const auto& [size, count] : sizes.exact) text += fmt::format("{},{}\n", size, count);
  if (sizes.others > 0) text += fmt::format("others,{}\n", sizes.others);
  return text;
}

std::string collectives_csv(const Patterns& p) {
  std::string text = "name,layer,comm_size,root,calls,operations,bytes,time_s,waiting_s\n";
  for (const CollectiveUse& c : p.collectives) {
    text += fmt::format("{},{},{},{},{},{},{},{},{}\n", c.name, c.layer.value_or(""), c.comm_size,
                        c.root ? std::to_string(*c.root) : "", c.calls(), c.operations(), c.bytes,
                        exact_seconds(c.time), exact_seconds(c.waiting));
  }
  return text;
}

std::string call_sites_csv(const Patterns& p) {
  std::string text = "path,call,place,calls,messages,bytes,time_s,waiting_s,longest_s\n";
  for (const CallSiteUse& s : p.call_sites) {
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{}\n", s.path, s.call, quoted(place_of(s)), s.calls, s.messages,
                    s.bytes, exact_seconds(s.time), exact_seconds(s.waiting), exact_seconds(s.longest));
  }
  return text;
}

std::string over_time_csv(const OverTime& bins) {
  std::string text = "begin_s,messages,bytes,collective_calls,compute_s,mpi_s,waiting_s\n";
  for (std::size_t i = 0; i < bins.messages.size(); ++i) {
    text +=
        fmt::format("{},{},{},{},{},{},{}\n", exact_seconds(bins.bin * static_cast<std::int64_t>(i)),
                    bins.messages[i], bins.bytes[i], bins.collective_calls[i], exact_seconds(bins.compute[i]),
                    exact_seconds(bins.mpi[i]), exact_seconds(bins.waiting[i]));
  }
  return text;
}

}  // namespace

Result<report::Done> write_csv(const std::filesystem::path& folder, const Patterns& patterns,
                               const Layer& layer, bool elements) {
  const Sizes& sizes = elements && layer.elements ? *layer.elements : layer.sizes;
  const std::vector<std::pair<const char*, std::string>> files{
      {"messages.csv", report::matrix_csv(matrix_of(layer, patterns.ranks(), &Cell::messages))},
      {"bytes.csv", report::matrix_csv(matrix_of(layer, patterns.ranks(), &Cell::bytes))},
      {"ranks.csv", ranks_csv(patterns)},
      {"sizes.csv", sizes_csv(sizes)},
      {"collectives.csv", collectives_csv(patterns)},
      {"call_sites.csv", call_sites_csv(patterns)},
      {"over_time.csv", over_time_csv(patterns.over_time)}};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error{"cannot make " + folder.string() + ": " + error.message(), "choose another folder"};
  for (const auto& [name, text] : files)
    if (std::filesystem::exists(folder / name))
      return Error{(folder / name).string() + " exists", "choose a folder that is new or empty"};
  for (const auto& [name, text] : files) {
    auto written = report::write_file(folder / name, text);
    if (!written) return written;
  }
  return report::Done{};
}

}  // namespace nplus1::patterns

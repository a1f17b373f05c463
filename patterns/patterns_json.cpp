#include "patterns/patterns_json.hpp"

#include <fmt/format.h>

#include "patterns/size_counts.hpp"
#include "report/exact_time.hpp"
#include "report/json_object.hpp"

namespace nplus1::patterns {
namespace {

using report::exact_seconds;
using Object = report::JsonObject;

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

std::string optional_number(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "null";
}

/// One array of a struct's field, over all items.
template <class Items, class Field>
std::string column(const Items& items, Field field) {
  return Object::joined(items, [field](const auto& item) {
    const auto value = item.*field;
    if constexpr (std::is_same_v<decltype(value), const Duration>)
      return exact_seconds(value);
    else
      return std::to_string(value);
  });
}

std::string totals(const RankTotals& sum) {
  Object object;
  for_each_total([&](const char* key, auto field) { object.raw(key, exact_seconds(sum.*field)); },
                 [&](const char* key, auto field) { object.number(key, sum.*field); });
  return object.inner();
}

std::string rank_columns(const std::vector<RankTotals>& ranks) {
  Object object;
  const auto add = [&](const char* key, auto field) { object.raw(key, column(ranks, field)); };
  add("end_s", &RankTotals::end);
  for_each_total(add, add);
  add("destinations", &RankTotals::destinations);
  add("sources", &RankTotals::sources);
  add("partners", &RankTotals::partners);
  return object.inner();
}

std::string imbalance(const Imbalance& imbalance) {
  Object object;
  object.real("compute", imbalance.compute);
  object.raw("compute_time_s", exact_seconds(imbalance.compute_time));
  object.raw("most_loaded_rank", optional_number(imbalance.most_loaded_rank));
  object.real("mpi", imbalance.mpi);
  object.real("waiting", imbalance.waiting);
  return object.inner();
}

std::string sizes(const Sizes& sizes) {
  std::string buckets;
  for (std::size_t b = 0; b < kSizeBuckets; ++b) {
    buckets += fmt::format("{}{{\"upper\": {}, \"count\": {}}}", b == 0 ? "" : ", ",
                           optional_number(bucket_limit(b)), sizes.buckets[b]);
  }
  const auto exact = Object::joined(
      sizes.exact, [](const auto& size) { return fmt::format("[{}, {}]", size.first, size.second); });
  return fmt::format(
      "{{\"buckets\": [{}],\n      \"exact\": {},\n      \"others\": {}, \"least\": {}, \"most\": {}, "
      "\"sum\": {}}}",
      buckets, exact, sizes.others, optional_number(sizes.least), optional_number(sizes.most), sizes.sum);
}

std::string row(const MatrixRow& row) {
  return fmt::format("\n      {{\"source\": {}, \"destinations\": {}, \"messages\": {}, \"bytes\": {}}}",
                     row.source, column(row.cells, &Cell::destination), column(row.cells, &Cell::messages),
                     column(row.cells, &Cell::bytes));
}

std::string layer(const Layer& layer) {
  std::string text = fmt::format(
      "\n    {{\"name\": {}, \"messages\": {}, \"bytes\": {},\n    \"rows\": {},\n    \"sizes\": {}",
      Object::quoted(layer.name), layer.messages, layer.bytes, Object::joined(layer.rows, row, ","),
      sizes(layer.sizes));
  if (layer.elements) text += ",\n    \"elements\": " + sizes(*layer.elements);
  return text + "}";
}

std::string collective(const CollectiveUse& use) {
  return fmt::format(
      "\n    {{\"name\": {}, \"layer\": {}, \"comm_size\": {}, \"root\": {}, \"calls\": {}, \"operations\": "
      "{}, "
      "\"bytes\": {}, \"time_s\": {}, \"waiting_s\": {}, \"calls_per_rank\": {}}}",
      Object::quoted(use.name), use.layer ? Object::quoted(*use.layer) : "null", use.comm_size,
      use.root ? std::to_string(*use.root) : "null", use.calls(), use.operations(), use.bytes,
      exact_seconds(use.time), exact_seconds(use.waiting), Object::joined(use.calls_per_rank, number));
}

std::string communicator(const CommunicatorUse& use) {
  return fmt::format(
      "\n    {{\"id\": {}, \"size\": {}, \"first_group\": {}, \"members\": {}, \"messages\": {}, \"bytes\": "
      "{}, "
      "\"collective_calls\": {}, \"time_s\": {}, \"waiting_s\": {}}}",
      use.id, use.size, use.first_group, Object::quoted(use.members), use.messages, use.bytes,
      use.collective_calls, exact_seconds(use.time), exact_seconds(use.waiting));
}

std::string frame(const SiteFrame& frame) {
  return fmt::format("{{\"function\": {}, \"file\": {}, \"line\": {}, \"module\": {}, \"offset\": {}}}",
                     Object::quoted(frame.function), Object::quoted(frame.file), frame.line,
                     Object::quoted(frame.module), frame.offset);
}

std::string call_site(const CallSiteUse& use) {
  return fmt::format(
      "\n    {{\"path\": {}, \"call\": {}, \"calls\": {}, \"messages\": {}, \"bytes\": {}, \"time_s\": {}, "
      "\"waiting_s\": {}, \"longest_s\": {}, \"frames\": {}}}",
      use.path, Object::quoted(use.call), use.calls, use.messages, use.bytes, exact_seconds(use.time),
      exact_seconds(use.waiting), exact_seconds(use.longest), Object::joined(use.frames, frame));
}

std::string over_time(const OverTime& bins) {
  Object object;
  object.raw("bin_s", exact_seconds(bins.bin));
  object.list("messages", bins.messages, number);
  object.list("bytes", bins.bytes, number);
  object.list("collective_calls", bins.collective_calls, number);
  object.list("compute_s", bins.compute, exact_seconds);
  object.list("mpi_s", bins.mpi, exact_seconds);
  object.list("waiting_s", bins.waiting, exact_seconds);
  object.number("ranks_per_row", bins.ranks_per_row);
  object.list(
      "busy", bins.busy,
      [](const std::vector<double>& shares) {
        return "\n    " + Object::joined(
                              shares, [](double share) { return fmt::format("{:g}", share); }, ",");
      },
      ",");
  return object.inner();
}

std::string unmodelled(const UnmodelledUse& use) {
  Object object;
  object.number("calls", use.calls);
  object.raw("time_s", exact_seconds(use.time));
  object.real("share", use.share);
  object.list("by_name", use.by_name, [](const auto& calls) {
    return fmt::format("{{\"name\": {}, \"count\": {}}}", Object::quoted(calls.first), calls.second);
  });
  return object.inner();
}

std::string file_counts(const FileCounts& counts, const std::string* name) {
  Object object;
  if (name != nullptr) object.text("name", *name);
  for_each_file_count([&](const char* key, auto field) { object.raw(key, exact_seconds(counts.*field)); },
                      [&](const char* key, auto field) { object.number(key, counts.*field); });
  return object.inner();
}

std::string system_counts(const std::vector<SystemCounts>& ranks) {
  Object object;
  for_each_system_count([&](const char* key, auto field) { object.raw(key, column(ranks, field)); });
  return object.inner();
}

std::string io(const IoUse& use) {
  Object object;
  object.raw("totals", file_counts(use.totals(), nullptr));
  object.list(
      "files", use.files, [](const FileUse& file) { return "\n    " + file_counts(file.counts, &file.name); },
      ",");
  object.number("files_left_out", use.files_left_out);
  Object rank;
  const auto add = [&](const char* key, auto field) { rank.raw(key, column(use.rank, field)); };
  for_each_file_count(add, add);
  object.raw("rank", rank.inner());
  if (!use.system.empty()) object.raw("system", system_counts(use.system));
  object.raw("read_sizes", sizes(use.read_sizes));
  object.raw("write_sizes", sizes(use.write_sizes));
  return object.inner();
}

std::string renumbering(const Renumbering& advice) {
  Object object;
  object.text("topology", advice.topology);
  object.number("hop_bytes", advice.hop_bytes);
  object.number("hop_bytes_after", advice.hop_bytes_after);
  object.real("saving", advice.saving());
  object.list("place_of_rank", advice.place_of_rank,
              [](std::int32_t place) { return std::to_string(place); });
  return object.inner();
}

}  // namespace

std::string patterns_json(const Patterns& patterns) {
  Object object;
  object.text("schema", kPatternsSchema);
  object.text("application", patterns.application);
  object.text("network", patterns.network);
  object.number("ranks", patterns.ranks());
  object.truth("complete", patterns.complete);
  if (patterns.real_time) object.text("clock", "real");
  object.raw("virtual_time_s", exact_seconds(patterns.virtual_time()));
  object.raw("totals", totals(patterns.totals()));
  object.raw("rank", rank_columns(patterns.rank));
  object.raw("imbalance", imbalance(patterns.imbalance()));
  object.list("layers", patterns.layers, layer, ",");
  if (patterns.wire) {
    object.raw("wire", layer(*patterns.wire));
    object.text("wire_collectives", patterns.wire_collectives);
  }
  object.number("unplaced_messages", patterns.unplaced_messages);
  object.list("collectives", patterns.collectives, collective, ",");
  object.list("communicator_calls", patterns.communicator_calls, collective, ",");
  object.list("communicators", patterns.communicators, communicator, ",");
  object.number("communicators_left_out", patterns.communicators_left_out);
  object.list("call_sites", patterns.call_sites, call_site, ",");
  object.number("call_sites_left_out", patterns.call_sites_left_out);
  object.raw("over_time", over_time(patterns.over_time));
  object.raw("unmodelled", unmodelled(patterns.unmodelled));
  if (patterns.io) object.raw("io", io(*patterns.io));
  if (patterns.renumbering) object.raw("renumbering", renumbering(*patterns.renumbering));
  return object.document();
}

}  // namespace nplus1::patterns

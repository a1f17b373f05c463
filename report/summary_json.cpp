// summary.json: one key a line, matrices a row a line, so that it can be read, and compared line by line.
// Matrices are written as they are walked and never built in memory.
#include <fmt/format.h>

#include "report/exact_time.hpp"
#include "report/json_object.hpp"
#include "report/results.hpp"
#include "report/trust.hpp"

namespace nplus1::report {
namespace {

using Object = JsonObject;

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

std::string matrix(const RankMatrix& counts) {
  std::string text = "[";
  for (std::size_t from = 0; from < counts.ranks(); ++from) {
    text += from == 0 ? "\n    " : ",\n    ";
    text += Object::joined(counts.row(RankId{static_cast<std::int32_t>(from)}), number);
  }
  return text + "]";
}

std::string collective(const CollectiveCount& count) {
  return fmt::format("\n    {{\"name\": {}, \"comm_size\": {}, \"root\": {}, \"calls_per_rank\": {}}}",
                     Object::quoted(count.name), count.comm_size,
                     count.root ? std::to_string(*count.root) : "null",
                     Object::joined(count.calls_per_rank, number));
}

std::string transfers(const OneSidedCount& count) {
  return fmt::format("{{\"operation\": {}, \"transfers\": {}, \"bytes\": {}}}",
                     Object::quoted(count.operation), count.transfers, count.bytes);
}

std::string io(const IoCount& count) {
  Object object;
  object.number("files", count.files);
  object.number("reads", count.reads);
  object.number("writes", count.writes);
  object.number("bytes_read", count.bytes_read);
  object.number("bytes_written", count.bytes_written);
  object.raw("time_s", exact_seconds(count.time));
  object.raw("waiting_s", exact_seconds(count.waiting));
  if (!count.system) return object.inner();
  Object system;
  system.number("reads", count.system->reads);
  system.number("writes", count.system->writes);
  system.number("bytes_read", count.system->bytes_read);
  system.number("bytes_written", count.system->bytes_written);
  object.raw("system", system.inner());
  return object.inner();
}

std::string bucket(const SizeBucket& sizes) {
  const std::string upper = sizes.upper ? std::to_string(count(*sizes.upper)) : "null";
  return fmt::format("{{\"upper_bytes\": {}, \"count\": {}}}", upper, sizes.count);
}

std::string unmodelled(const Unmodelled& calls) {
  Object object;
  object.number("calls", calls.calls);
  object.real("share", calls.share);
  object.list("by_name", calls.by_name, [](const Unmodelled::Calls& c) {
    return fmt::format("{{\"name\": {}, \"count\": {}}}", Object::quoted(c.name), c.count);
  });
  return object.inner();
}

std::string recording(const std::optional<Recording>& recording) {
  if (!recording) return "null";
  Object object;
  object.text("path", recording->path);
  object.number("bytes", recording->bytes);
  object.number("expected_bytes", recording->expected_bytes);
  object.number("events", recording->events);
  object.number("dropped", recording->dropped);
  object.real("hashing_s", recording->hashing_s);
  return object.inner();
}

std::string point_to_point(const RunSummary& summary) {
  Object object;
  object.raw("messages", matrix(summary.messages));
  object.raw("bytes", matrix(summary.bytes));
  return object.inner();
}

void add_settings(Object& object, const RunSummary& summary) {
  object.text("network", summary.network);
  if (!summary.storage.empty()) object.text("storage", summary.storage);
  object.text("clock", summary.clock);
  object.text("clock_reason", summary.clock_reason);
  object.text("compute", summary.compute);
  object.text("protocol", summary.protocol);
  object.text("transport", summary.transport);
  object.truth("direct", summary.direct);
  object.truth("late_clocks", summary.late_clocks);
}

std::string interval(const TimeInterval& i) {
  Object object;
  object.raw("lowest_s", exact_seconds(i.lowest));
  object.raw("from_s", exact_seconds(i.from));
  object.raw("to_s", exact_seconds(i.to));
  object.raw("highest_s", exact_seconds(i.highest));
  object.real("share", i.share);
  return object.inner();
}

}  // namespace

std::string summary_json(const RunSummary& summary) {
  Object object;
  object.text("schema", kSummarySchema);
  object.text("application", summary.application);
  object.number("ranks", summary.ranks);
  object.truth("complete", summary.complete);
  object.raw("virtual_time_s", exact_seconds(summary.virtual_time));
  object.real("wall_time_s", summary.wall_time_s);
  add_settings(object, summary);
  object.raw("point_to_point", point_to_point(summary));
  object.list("one_sided", summary.one_sided, transfers, ",");
  if (summary.io) object.raw("io", io(*summary.io));
  object.list("collectives", summary.collectives, collective, ",");
  object.list("communicator_calls", summary.communicator_calls, collective, ",");
  object.list("message_sizes", summary.message_sizes, bucket, ",\n    ");
  object.raw("unmodelled", unmodelled(summary.unmodelled));
  object.list("rank_end_s", summary.rank_end, [](Time t) { return exact_seconds(t.time_since_epoch()); });
  object.list("compute_s", summary.compute_time, exact_seconds);
  object.raw("recording", recording(summary.recording));
  object.raw("trust", trust_object(summary.trust));
  object.list("notes", summary.notes, Object::quoted);
  if (summary.virtual_time_interval)
    object.raw("virtual_time_interval", interval(*summary.virtual_time_interval));
  return object.document();
}

}  // namespace nplus1::report

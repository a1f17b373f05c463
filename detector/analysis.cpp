#include "detector/analysis.hpp"

#include <nlohmann/json.hpp>

namespace nplus1::detector {
namespace {

using nlohmann::json;

json as_value(const Occurrence& o) {
  json messages = json::array();
  for (const Message& m : o.messages)
    messages.push_back({m.source, m.destination, m.bytes, m.send_ordinal, m.step});
  return {o.root ? json(*o.root) : json(),
          o.bytes,
          std::move(messages),
          o.sent_at,
          o.comm.value,
          o.datatype.value,
          o.group};
}

Occurrence occurrence_of(const json& value) {
  Occurrence o;
  if (!value.at(0).is_null()) o.root = value.at(0).get<std::int32_t>();
  o.bytes = value.at(1);
  for (const json& m : value.at(2)) o.messages.push_back({m.at(0), m.at(1), m.at(2), m.at(3), m.at(4)});
  o.sent_at = value.at(3);
  o.comm = CommId{value.at(4).get<std::uint32_t>()};
  o.datatype = DatatypeId{value.at(5).get<std::uint32_t>()};
  o.group = value.at(6);
  return o;
}

json as_value(const Finding& f) {
  json occurrences = json::array();
  for (const Occurrence& o : f.occurrences) occurrences.push_back(as_value(o));
  return {{"kind", f.kind},
          {"operation", f.operation ? json(*f.operation) : json()},
          {"certainty", f.certainty},
          {"ranks", f.ranks},
          {"groups", f.groups},
          {"roots", f.roots},
          {"count", f.count},
          {"bytes", f.bytes},
          {"messages", f.messages},
          {"payloads", f.payloads},
          {"segments", f.segments},
          {"polled", f.polled},
          {"lines", f.lines},
          {"callers", f.callers},
          {"replacement", f.replacement},
          {"evidence", f.evidence},
          {"alternatives", f.alternatives},
          {"occurrences", std::move(occurrences)}};
}

Finding finding_of(const json& value) {
  Finding f;
  f.kind = value.at("kind");
  if (!value.at("operation").is_null()) f.operation = value.at("operation").get<Operation>();
  f.certainty = value.at("certainty");
  value.at("ranks").get_to(f.ranks);
  value.at("groups").get_to(f.groups);
  value.at("roots").get_to(f.roots);
  f.count = value.at("count");
  f.bytes = value.at("bytes");
  f.messages = value.at("messages");
  f.payloads = value.at("payloads");
  f.segments = value.at("segments");
  f.polled = value.at("polled");
  value.at("lines").get_to(f.lines);
  value.at("callers").get_to(f.callers);
  f.replacement = value.at("replacement");
  value.at("evidence").get_to(f.evidence);
  value.at("alternatives").get_to(f.alternatives);
  for (const json& o : value.at("occurrences")) f.occurrences.push_back(occurrence_of(o));
  return f;
}

}  // namespace

std::string to_bytes(const Analysis& analysis) {
  json findings = json::array();
  for (const Finding& f : analysis.findings) findings.push_back(as_value(f));
  const json all{{"findings", std::move(findings)},
                 {"messages", analysis.messages},
                 {"unknown", {analysis.unknown.hashes, analysis.unknown.crc, analysis.unknown.sums}},
                 {"unmatched", analysis.unmatched},
                 {"damage", analysis.damage}};
  const std::vector<std::uint8_t> bytes = json::to_cbor(all);
  return {bytes.begin(), bytes.end()};
}

Result<Analysis> from_bytes(std::string_view bytes) try {
  const json all = json::from_cbor(bytes);
  Analysis analysis;
  for (const json& f : all.at("findings")) analysis.findings.push_back(finding_of(f));
  analysis.messages = all.at("messages");
  const json& unknown = all.at("unknown");
  analysis.unknown = {unknown.at(0), unknown.at(1), unknown.at(2)};
  analysis.unmatched = all.at("unmatched");
  analysis.damage = all.at("damage");
  return analysis;
} catch (const json::exception& e) {
  return Error{std::string{"the analysers' answer cannot be read: "} + e.what(),
               "nplus1 and nplus1-analysers are of different versions: reinstall both"};
}

}  // namespace nplus1::detector

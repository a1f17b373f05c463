#include <fmt/format.h>

#include "hypothesis/waitstates/report.hpp"
#include "report/exact_time.hpp"
#include "report/json_object.hpp"

namespace nplus1::hypothesis {
namespace {

using report::exact_seconds;
using Object = report::JsonObject;

std::string optional_real(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "null";
}

std::string efficiencies_object(const Efficiencies& e) {
  Object object;
  object.real("parallel", e.parallel);
  object.real("load_balance", e.load_balance);
  object.real("communication", e.communication);
  object.raw("serialisation", optional_real(e.serialisation));
  object.raw("transfer", optional_real(e.transfer));
  object.raw("ideal_time_s", e.ideal_time ? exact_seconds(*e.ideal_time) : "null");
  object.text("note", e.note);
  return object.inner();
}

/// One member a line would make this the longest part of the file by far.
std::string tally_members(const Tally& t) {
  return fmt::format(
      "\"calls\": {}, \"time_s\": {}, \"waiting_s\": {}, \"polling_s\": {}, \"wait_states\": {}, "
      "\"transfer_s\": {}, \"critical_path_s\": {}, \"delay_direct_s\": {}, \"delay_propagated_s\": {}",
      t.calls, exact_seconds(t.time), exact_seconds(t.waiting), exact_seconds(t.polling), states_object(t),
      exact_seconds(t.transfer()), exact_seconds(t.on_critical_path), t.delay.direct, t.delay.propagated);
}

std::string frame_object(const events::Frame& f) {
  return fmt::format("{{\"function\": {}, \"file\": {}, \"line\": {}, \"module\": {}, \"offset\": {}}}",
                     Object::quoted(f.function), Object::quoted(f.file), f.line, Object::quoted(f.module),
                     f.offset);
}

std::string activity_object(const Activity& a) {
  return fmt::format(
      "\n    {{\"title\": {}, \"kind\": {}, \"region\": {}, \"path\": {}, {}, \"critical_imbalance_s\": {}, "
      "\"frames\": "
      "{}}}",
      Object::quoted(activity_title(a)), Object::quoted(a.kind),
      a.region.empty() ? "null" : Object::quoted(a.region), a.path, tally_members(a.tally),
      exact_seconds(a.critical_imbalance), Object::joined(a.frames, frame_object));
}

std::string rank_object(const Tally& t) {
  return fmt::format("\n    {{\"compute_s\": {}, {}}}", exact_seconds(t.computing), tally_members(t));
}

std::string cause_object(const Cause& c) {
  return fmt::format("\n    {{\"activity\": {}, \"rank\": {}, \"direct_s\": {}, \"propagated_s\": {}}}",
                     c.activity, c.rank, c.delay.direct, c.delay.propagated);
}

}  // namespace

std::string states_object(const Tally& tally) {
  std::string text = "{";
  for (std::size_t s = 0; s < kWaitStates; ++s)
    text += fmt::format("\"{}_s\": {}, ", kWaitStateNames[s], exact_seconds(tally.states[s]));
  return text + fmt::format("\"wrong_order_s\": {}}}", exact_seconds(tally.wrong_order));
}

report::JsonObject wait_states_object(const WaitStateResults& r) {
  Object object;
  object.text("schema", kWaitStatesSchema);
  object.text("application", r.application);
  object.text("network", r.network);
  object.raw("coverage", r.coverage.empty() ? "\"complete\"" : Object::quoted(r.coverage));
  object.number("ranks", r.ranks.size());
  object.raw("threads", std::to_string(r.thread_computing.size()));
  object.raw("virtual_time_s", exact_seconds(r.virtual_time));
  object.raw("last_rank", std::to_string(r.last_rank));
  object.raw("total", "{" + tally_members(r.total) +
                          fmt::format(", \"compute_s\": {}", exact_seconds(r.total.computing)) + "}");
  object.raw("efficiencies", r.efficiencies ? efficiencies_object(*r.efficiencies) : "null");
  object.list("rank", r.ranks, rank_object, ",");
  object.list("activities", r.activities, activity_object, ",");
  object.list("causes", r.causes, cause_object, ",");
  object.real("unattributed_delay_s", r.unattributed_delay);
  object.number("unresolved_calls", r.unresolved_calls);
  return object;
}

std::string wait_states_json(const WaitStateResults& r) {
  return wait_states_object(r).document();
}

}  // namespace nplus1::hypothesis

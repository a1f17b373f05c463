// Every field of an event, by name, once: columns of CSV, keys of JSON lines and attributes of OTF2 all come
// from here. A visitor has number(name, field), hex(name, field) for what is read as bits, and for the fields
// with names of their own kind(), call() and operation(). Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "events/event.hpp"

namespace nplus1::events::exchange {

/// `E` is Event or const Event. Rank, exit, ordinal and lists are the stream's, not the event's.
template <class E, class Visitor>
void visit_event(E& e, Visitor&& visit) {
  visit.kind("kind", e.kind);
  visit.call("call", e.call);
  visit.number("thread", e.thread.value);
  visit.number("flags", e.flags);
  visit.operation("operation", e.kind, e.operation);
  visit.number("comm", e.comm.value);
  visit.number("request", e.request.value);
  visit.number("site", e.site.value);
  visit.number("peer", e.peer);
  visit.number("tag", e.tag);
  visit.number("size", e.size);
  visit.number("aux", e.aux);
  visit.number("compute_ps", e.compute_ps);
  visit.number("entry_ps", e.entry_ps);
  visit.number("slots", e.extension);
  visit.number("reserved", e.reserved);
}

template <class A, class Visitor>
void visit_answer(A& a, Visitor&& visit) {
  visit.answer("answer", a.kind);
  visit.number("answer_flag", a.flag);
  visit.number("answer_thread", a.thread.value);
  visit.number("answer_index", a.index);
  visit.number("answer_request", a.request.value);
  visit.number("answer_source", a.source);
  visit.number("answer_tag", a.tag);
  visit.number("answer_slots", a.extension);
  visit.number("answer_sequence", a.sequence);
  visit.number("answer_exit_ps", a.exit_ps);
  visit.number("answer_size", a.size);
  visit.number("answer_aux", a.aux);
  visit.number("answer_reserved", a.reserved);
}

template <class D, class Visitor>
void visit_detail(D& d, Visitor&& visit) {
  visit.number("wall_entry_ns", d.wall_entry_ns);
  visit.number("wall_before_ns", d.wall_before_ns);
  visit.hex("buffer", d.buffer);
  visit.number("count", d.count);
  visit.hex("prefix", d.prefix);
  visit.hex("polynomial", d.polynomial);
  visit.number("crc", d.crc);
  visit.number("datatype", d.datatype.value);
  visit.number("content", d.content);
  visit.hex("excerpt_0", d.excerpt[0]);
  visit.hex("excerpt_1", d.excerpt[1]);
  visit.hex("excerpt_2", d.excerpt[2]);
  visit.hex("excerpt_3", d.excerpt[3]);
  visit.hex("excerpt_4", d.excerpt[4]);
  visit.hex("excerpt_5", d.excerpt[5]);
  visit.hex("excerpt_6", d.excerpt[6]);
  visit.hex("excerpt_7", d.excerpt[7]);
}

/// "isend", "collective" ...; empty for a kind without a name.
[[nodiscard]] std::string_view kind_name(EventKind kind);
[[nodiscard]] std::optional<EventKind> kind_named(std::string_view name);

/// "exit", "match" ...
[[nodiscard]] std::string_view answer_name(AnswerKind kind);
[[nodiscard]] std::optional<AnswerKind> answer_named(std::string_view name);

/// What `operation` means for this kind: "synchronous", "all", "bcast"; empty where 0 says it all or nothing
/// does.
[[nodiscard]] std::string_view operation_name(EventKind kind, std::uint8_t operation);
[[nodiscard]] std::optional<std::uint8_t> operation_named(EventKind kind, std::string_view name);

}  // namespace nplus1::events::exchange

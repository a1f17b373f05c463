// Events for tests, written by hand.
#pragma once

#include <string>
#include <vector>

#include "events/mpi_call.hpp"
#include "patterns/message_statistics.hpp"

namespace nplus1::patterns {

using events::Event;
using events::EventKind;
using events::MpiCall;

inline Event call(EventKind kind, std::int64_t entry_ps = 0, std::int64_t compute_ps = 0) {
  Event event;
  event.kind = kind;
  event.entry_ps = entry_ps;
  event.compute_ps = compute_ps;
  return event;
}

inline Event send_event(std::int32_t to, std::int64_t size, EventKind kind = EventKind::kSend) {
  Event event = call(kind);
  event.peer = to;
  event.size = size;
  return event;
}

inline Event collective_event(CollectiveKind kind, std::int32_t root, std::int64_t size,
                              CommId comm = CommId{0}) {
  Event event = call(EventKind::kCollective);
  event.operation = static_cast<std::uint8_t>(kind);
  event.peer = root;
  event.size = size;
  event.comm = comm;
  return event;
}

inline void feed(events::EventSink& sink, std::int32_t rank, const Event& event, std::int64_t exit_ps = 0,
                 events::Extension extension = {}) {
  sink.on_event({RankId{rank}, event, extension, Time{Duration{exit_ps}}});
}

/// Everybody calls the collective.
inline void all_call(events::EventSink& sink, std::int32_t ranks, const Event& event,
                     events::Extension extension = {}) {
  for (std::int32_t r = 0; r < ranks; ++r) feed(sink, r, event, 0, extension);
}

/// A layer as lines "source>destination messages/bytes", "" if there is none of that name.
inline std::string layer_text(const Patterns& patterns, const std::string& name) {
  std::string text;
  for (const Layer& layer : patterns.layers) {
    if (layer.name != name) continue;
    for (const MatrixRow& row : layer.rows)
      for (const Cell& cell : row.cells)
        text += (text.empty() ? "" : " ") + std::to_string(row.source) + ">" +
                std::to_string(cell.destination) + " " + std::to_string(cell.messages) + "/" +
                std::to_string(cell.bytes);
  }
  return text;
}

/// A run with something in every field.
inline Patterns sample() {
  MessageStatistics statistics{3};
  statistics.on_communicator({CommId{1}, {RankId{2}, RankId{0}}});
  statistics.on_call_path({CallSiteId{7}, {{"/bin/app \"x\"", "", 4660, "main", "/src/app.c", 12}, {}}});
  Event send = send_event(1, 100);
  send.site = CallSiteId{7};
  send.call = static_cast<std::uint16_t>(MpiCall::MPI_Send);
  send.entry_ps = 5'000'000;
  send.compute_ps = 5'000'000;
  events::Detail detail;
  detail.count = 25;
  statistics.on_event({RankId{0}, send, {}, Time{Duration{5'500'000}}, events::kNoAnswer, {}, &detail});
  feed(statistics, 2, send_event(2, 1 << 20, EventKind::kIsend), 9'000'000);
  all_call(statistics, 3, collective_event(CollectiveKind::kBcast, 1, 64));
  feed(statistics, 0, collective_event(CollectiveKind::kSynchronize, -1, 0), 10);
  feed(statistics, 2, collective_event(CollectiveKind::kReduce, 1, 8, CommId{1}), 20);
  Event put = call(EventKind::kUnmodelledEnter, 6'000'000);
  put.call = static_cast<std::uint16_t>(MpiCall::MPI_Put);
  feed(statistics, 1, put, 6'000'000);
  feed(statistics, 1, call(EventKind::kUnmodelledExit, 7'000'000), 7'000'000);
  feed(statistics, 1, call(EventKind::kFinalize, 8'000'000, 1'000'000), 8'000'000);
  Patterns patterns = statistics.patterns();
  patterns.application = "app";
  patterns.network = "lsb";
  return patterns;
}

}  // namespace nplus1::patterns

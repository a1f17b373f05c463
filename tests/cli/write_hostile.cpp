// Writes recordings whose checksums hold and whose claims do not: write_hostile FOLDER makes a recording in
// FOLDER/NAME for each case, and prints the names. What hostile_test.py gives to every verb.
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "events/recording/writer.hpp"

namespace nplus1 {
namespace {

using events::Event;
using events::EventKind;
using events::recording::Writer;

struct Case {
  const char* name;
  std::int32_t ranks;
  std::function<void(Writer&)> write;
};

Event of_kind(EventKind kind, std::int64_t size = 0) {
  Event event;
  event.kind = kind;
  event.size = size;
  return event;
}

void tell(Writer& writer, std::int32_t rank, const Event& event, const events::Extension& lists = {},
          std::vector<std::uint32_t> completed = {}, const events::Detail* detail = nullptr) {
  writer.on_event(
      {RankId{rank}, event, lists, Time{Duration{1000}}, events::kNoAnswer, completed, detail, 0});
}

void position_behind_the_list(Writer& writer) {
  Event receive = of_kind(EventKind::kIrecv, 8);
  receive.request = RequestId{1};
  tell(writer, 0, receive);
  Event wait = of_kind(EventKind::kWait);
  wait.operation = static_cast<std::uint8_t>(events::CompletionMode::kSome);
  wait.aux = 1;
  const std::vector<std::uint32_t> ids{1};
  tell(writer, 0, wait, {ids, {}}, {4'000'000'000U});
}

void huge_allgatherv(Writer& writer, std::int64_t size) {
  for (int call = 0; call < 20; ++call) {
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      Event event = of_kind(EventKind::kCollective, size);
      event.operation = static_cast<std::uint8_t>(CollectiveKind::kAllgatherv);
      event.peer = -1;
      event.aux = 2;
      event.flags = events::kHasBytesPerMember;
      const std::vector<std::int64_t> sizes{size, size};
      tell(writer, rank, event, {{}, sizes});
    }
  }
}

void endless_payloads(Writer& writer) {
  for (std::uint64_t i = 0; i < 8; ++i) {
    events::Detail detail;
    detail.content = events::kHasCrc | events::kHasPrefix;
    detail.crc = static_cast<std::uint32_t>(i);
    Event send =
        of_kind(EventKind::kSend, std::numeric_limits<std::int64_t>::min() + static_cast<std::int64_t>(i));
    send.peer = 1;
    tell(writer, 0, send, {}, {}, &detail);
  }
}

void far_numbers(Writer& writer) {
  Event event = of_kind(EventKind::kSend, 8);
  event.peer = 1;
  event.comm = CommId{0xfffffff0U};
  event.site = CallSiteId{0xfffffff0U};
  event.thread = ThreadId{65535};
  writer.on_datatype({DatatypeId{0xfffffff0U}, "MPI_INT", 4});
  tell(writer, 0, event);
}

void foreign_member(Writer& writer) {
  writer.on_communicator({CommId{1}, {RankId{0}}, 0});
  Event event = of_kind(EventKind::kCollective, 8);
  event.comm = CommId{1};
  event.operation = static_cast<std::uint8_t>(CollectiveKind::kBcast);
  event.peer = 77;
  tell(writer, 1, event);
}

void of_nobody(Writer& writer) {
  writer.on_communicator({CommId{1}, {}, 0});
  Event event = of_kind(EventKind::kCollective, 8);
  event.comm = CommId{1};
  for (const CollectiveKind kind : {CollectiveKind::kReduceScatter, CollectiveKind::kBcast}) {
    event.operation = static_cast<std::uint8_t>(kind);
    tell(writer, 0, event);
  }
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"position", 2, position_behind_the_list},
      {"allgatherv", 2, [](Writer& w) { huge_allgatherv(w, std::int64_t{1} << 46U); }},
      {"beyond", 2, [](Writer& w) { huge_allgatherv(w, std::int64_t{1} << 61U); }},
      {"payloads", 2, endless_payloads},
      {"numbers", 2, far_numbers},
      {"member", 2, foreign_member},
      {"nobody", 2, of_nobody},
      {"ranks", 1 << 24U, [](Writer& w) { tell(w, 0, of_kind(EventKind::kFinalize)); }},
      {"many", 1 << 16U, [](Writer& w) { tell(w, 0, of_kind(EventKind::kFinalize)); }},
  };
  return all;
}

}  // namespace
}  // namespace nplus1

int main(int count, char** words) {
  if (count != 2) return 2;
  for (const nplus1::Case& one : nplus1::cases()) {
    const std::filesystem::path folder = std::filesystem::path{words[1]} / one.name;
    auto writer = nplus1::events::recording::Writer::create(folder, {one.ranks, {{"network", "lsb"}}});
    if (!writer) return 1;
    one.write(*writer.value());
    static_cast<void>(writer.value()->close());
    std::printf("%s\n", one.name);
  }
  return 0;
}

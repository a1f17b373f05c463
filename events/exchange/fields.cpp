#include "events/exchange/fields.hpp"

#include <array>
#include <span>

#include "support/collective_names.hpp"

namespace nplus1::events::exchange {
namespace {

constexpr std::array<std::string_view, 28> kKinds{"none",
                                                  "send",
                                                  "isend",
                                                  "recv",
                                                  "irecv",
                                                  "wait",
                                                  "test",
                                                  "probe",
                                                  "iprobe",
                                                  "cancelled",
                                                  "request_free",
                                                  "collective",
                                                  "icollective",
                                                  "comm_define",
                                                  "unmodelled_enter",
                                                  "unmodelled_exit",
                                                  "local",
                                                  "region_begin",
                                                  "region_end",
                                                  "site_define",
                                                  "region_define",
                                                  "datatype_define",
                                                  "finalize",
                                                  "outcome",
                                                  "warm_time",
                                                  "one_sided",
                                                  "window_sync",
                                                  "file_access"};
static_assert(kKinds.size() == static_cast<std::size_t>(kLastEventKind) + 1);

constexpr std::array<std::string_view, 5> kAnswers{"none", "exit", "match", "notice", "deadlock"};
constexpr std::array<std::string_view, 4> kSendModes{"standard", "synchronous", "buffered", "ready"};
constexpr std::array<std::string_view, 6> kOneSidedOperations{
    "put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"};
constexpr std::array<std::string_view, 14> kWindowSyncs{
    "fence",    "post",   "start",      "complete", "wait",      "test",        "lock",
    "lock_all", "unlock", "unlock_all", "flush",    "flush_all", "flush_local", "flush_local_all"};
constexpr std::array<std::string_view, 6> kFileOperations{"read",  "write",    "open",
                                                          "close", "metadata", "turn"};
constexpr std::array<std::string_view, 3> kCompletionModes{"all", "any", "some"};

std::span<const std::string_view> operations(EventKind kind) {
  switch (kind) {
    case EventKind::kSend:
    case EventKind::kIsend:
      return kSendModes;
    case EventKind::kWait:
    case EventKind::kTest:
      return kCompletionModes;
    case EventKind::kCollective:
    case EventKind::kIcollective:
      return kCollectiveNames;
    case EventKind::kOneSided:
      return kOneSidedOperations;
    case EventKind::kWindowSync:
      return kWindowSyncs;
    case EventKind::kFileAccess:
      return kFileOperations;
    default:
      return {};
  }
}

std::string_view name_in(std::span<const std::string_view> names, std::size_t index) {
  return index < names.size() ? names[index] : std::string_view{};
}

std::optional<std::uint8_t> place_in(std::span<const std::string_view> names, std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<std::uint8_t>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view kind_name(EventKind kind) {
  return name_in(kKinds, static_cast<std::size_t>(kind));
}

std::optional<EventKind> kind_named(std::string_view name) {
  const auto place = place_in(kKinds, name);
  return place ? std::optional{static_cast<EventKind>(*place)} : std::nullopt;
}

std::string_view answer_name(AnswerKind kind) {
  return name_in(kAnswers, static_cast<std::size_t>(kind));
}

std::optional<AnswerKind> answer_named(std::string_view name) {
  const auto place = place_in(kAnswers, name);
  return place ? std::optional{static_cast<AnswerKind>(*place)} : std::nullopt;
}

std::string_view operation_name(EventKind kind, std::uint8_t operation) {
  return name_in(operations(kind), operation);
}

std::optional<std::uint8_t> operation_named(EventKind kind, std::string_view name) {
  return place_in(operations(kind), name);
}

}  // namespace nplus1::events::exchange

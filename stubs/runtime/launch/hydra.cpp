#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "stubs/pmpi.hpp"
#include "stubs/runtime/launch/beside.hpp"
#include "stubs/runtime/launch/keeper.hpp"
#include "stubs/runtime/launch/keeper_pmi.hpp"
#include "stubs/runtime/launch/launcher.hpp"

namespace nplus1::stubs {

namespace {

/// Spawned processes inherit the word, and are no ranks of the job that it is for.
std::optional<transport::Meeting> meeting_beside() {
  MPI_Comm parent = MPI_COMM_NULL;
  pmpi::Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) return std::nullopt;
  return transport::Meeting::parse(meeting_word());
}

}  // namespace

/// What the keeper published through Hydra; nothing where no simulator came up. MPI's own PMI client is at rest.
/// What is published arrives with the second barrier, which all ranks pass in MPI_Init. One rank alone passes none there, and
/// MPI_Session_init of several has one: so they pass them here.
std::optional<transport::Meeting> published_meeting(std::int32_t ranks, bool by_session) {
  if (!meeting_word().empty())
    return by_session ? transport::Meeting::parse(meeting_word()) : meeting_beside();
  constexpr int kBarriersUntilPublished = 2;
  const char* const descriptor = std::getenv("PMI_FD");
  if (descriptor == nullptr || *descriptor == '\0') return std::nullopt;
  const int fd = std::atoi(descriptor);
  LineReader reader{fd};
  const auto ask = [&](const std::string& command) {
    if (!write_all(fd, command + "\n")) return std::string{};
    return reader.next(std::chrono::milliseconds{5000}).value_or(std::string{});
  };
  const std::string space = value_of(ask("cmd=get_my_kvsname"), "kvsname");
  if (by_session && ranks > 1 && ask("cmd=barrier_in").empty()) return std::nullopt;
  for (int barriers = 0;; ++barriers) {
    const std::string value = value_of(ask("cmd=get kvsname=" + space + " key=nplus1"), "value");
    const auto meeting = transport::Meeting::parse(value);
    if (meeting || ranks > 1 || barriers == kBarriersUntilPublished) return meeting;
    if (ask("cmd=barrier_in").empty()) return std::nullopt;
  }
}

/// Where the simulator's rank is alone on its host, no proxy tells its keepers when the job ends.
void note_beginning() {
  if (process_manager() >= 0 && !on_one_host()) announce_beginning(process_manager());
}

bool takes_leave() noexcept {
  return process_manager() >= 0;
}

void take_leave() {
  constexpr std::chrono::milliseconds kMoment{1000};
  LineReader lines{process_manager()};
  if (!write_all(process_manager(), "cmd=finalize\n")) return;
  [[maybe_unused]] const auto answer = lines.next(kMoment);
}

}  // namespace nplus1::stubs

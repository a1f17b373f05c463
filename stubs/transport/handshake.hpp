// How a rank and the simulator meet: one stream socket each, unix (same host) or TCP. First both prove that they
// know the job's key (stubs/transport/proof.hpp): the rank sends a Challenge, the simulator a Response, the rank a
// Hello. Then the simulator answers Welcome and the texts that it announces; over the unix socket the segment's
// descriptor and the wake-up eventfd come along. When all ranks have agreed on what they use, each says Start. From
// then on the unix socket carries
// nothing (its end of file is the sign of death for both sides); the TCP socket carries slots in both
// directions.
//
// Whoever reads here has a deadline for the whole, so that a peer that says nothing, or a byte now and then, holds
// nobody up.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "stubs/transport/proof.hpp"

namespace nplus1::transport {

inline constexpr std::uint32_t kProtocolVersion = 11;

enum class ClockChoice : std::uint8_t { kAuto, kCpu, kWall, kInstructions };

/// The settings of a run that ranks must know, as the simulator has parsed them.
struct Config {
  ClockChoice clock = ClockChoice::kAuto;
  std::uint8_t direct = 1;  // stamps go straight to the receiver
  std::uint8_t riesen = 0;  // --protocol riesen
  std::uint8_t virtual_clocks = 0;
  std::uint8_t quiet = 0;
  std::uint8_t native = 0;            // record real times, simulate nothing
  std::uint8_t compute_mode = 0;      // semantics::ComputeMode
  std::int64_t compute_fixed_ps = 0;  // of an interval, where it is fixed
  double compute_scale = 1;  // of measured times: what was asked for times this rank's simulated host
  std::int64_t poll_first_ps = 0;
  std::int64_t poll_cap_ps = 0;
  // What a recording asks of the ranks (docs/cli.md).
  std::uint8_t record = 0;         // events carry a Detail
  std::uint8_t content_parts = 0;  // --hash: events::payload::Part
  std::uint8_t whole_bytes = 0;    // --inline-payloads
  std::uint8_t frames = 1;         // of a call path
  std::uint8_t pcontrol_ipm = 0;   // --pcontrol ipm
  std::uint8_t accesses = 0;       // --record-accesses
  std::uint8_t twins = 0;          // --compute warm
};

/// Settings of any length.
enum Text : std::size_t {
  kNetwork,        // the model's own description of itself, which netmodel::parse() turns into an equal one
  kOutput,         // where the results will be
  kRecordRegion,   // --record-region; empty: everything
  kComputeRules,   // of a compute table, packed (semantics/time_settings.hpp)
  kCollectives,    // --collectives, as given; empty: the default
  kRecordedTimes,  // this rank's events::recording::ComputeInterval, one after the other
  kTexts
};
/// No text is longer.
inline constexpr std::uint64_t kLongestText = std::uint64_t{1} << 30U;

struct Challenge {
  std::uint32_t version = kProtocolVersion;
  Nonce nonce{};
};

struct Response {
  std::uint32_t version = kProtocolVersion;
  Nonce nonce{};
  Proof proof{};
};

struct Hello {
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  std::int32_t pid = 0;
  Proof proof{};  // of the three before it, too

  /// What `proof` vouches for.
  [[nodiscard]] std::string said() const;
};

struct Welcome {
  std::uint32_t version = kProtocolVersion;
  std::uint32_t has_segment = 0;
  std::uint64_t text_bytes[kTexts] = {};  // of each Text; they follow, one after the other
  Config config;
};

struct Start {
  std::uint32_t active = 0;  // 0: this job runs as plain MPI after all
  std::uint32_t direct = 0;
  std::uint32_t shared_memory = 0;
  std::int32_t threads_provided = 0;  // the level MPI_Init_thread gave
  std::int32_t native_threads = 0;    // threads that the MPI library started itself
  std::int32_t cores = 0;
  std::uint32_t counts = 0;       // --clock instructions, and the processor's counters can be read
  std::uint32_t late_clocks = 0;  // it goes on without being told when its calls ended (docs/architecture.md)
};

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

/// Whole-structure transfers; false on end of file, on an error, or when the time is up.
[[nodiscard]] bool send_all(int fd, const void* data, std::size_t size, Deadline until = kNoDeadline);
[[nodiscard]] bool receive_all(int fd, void* data, std::size_t size, Deadline until = kNoDeadline);
/// One byte with descriptors attached (SCM_RIGHTS), and its counterpart, which takes exactly two.
[[nodiscard]] bool send_descriptors(int fd, int first, int second);
[[nodiscard]] bool receive_descriptors(int fd, int& first, int& second, Deadline until = kNoDeadline);

/// The rank's side of the proof; why it failed, or nothing. Afterwards the Welcome comes.
[[nodiscard]] std::optional<std::string> prove_as_rank(int fd, const Key& key, Hello hello, Deadline until);

/// Whose process is at the other end of a unix socket; -1 if the kernel does not say.
struct Peer {
  std::int64_t user = -1;
  std::int32_t process = -1;
};
[[nodiscard]] Peer peer_of(int unix_socket);

/// Connects to the abstract unix socket `name`, or to `HOST:PORT`; -1 if nobody is there.
[[nodiscard]] int connect_unix(const std::string& name);
[[nodiscard]] int connect_tcp(const std::string& address, Deadline until = kNoDeadline);
/// Listens; -1 with errno set. Accepting never blocks.
[[nodiscard]] int listen_unix(const std::string& name);
/// Listens on all of this host's addresses, or (`only_here`) on the loopback, and writes the port.
[[nodiscard]] int listen_tcp(std::uint16_t& port, bool only_here);

}  // namespace nplus1::transport

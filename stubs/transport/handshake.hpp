// How a rank and the simulator meet: one stream socket each, unix (same host) or TCP. The rank says Hello,
// the simulator answers Welcome and what it announces; over the unix socket the segment's descriptor and the wake-up eventfd come
// along. When all ranks have agreed on what they use, each says Start. From then on the unix socket carries
// nothing (its end of file is the sign of death for both sides); the TCP socket carries slots in both
// directions.
#pragma once

#include <cstdint>
#include <string>

namespace nplus1::transport {

inline constexpr std::uint32_t kProtocolVersion = 5;

/// The settings of a run that ranks must know, as the simulator decided them.
struct Config {
  char network[256] = {};   // netmodel::parse() specification
  char clock[16] = {};      // auto | cpu | wall
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
  char output[512] = {};  // where the results will be
  // What a recording asks of the ranks (docs/cli.md).
  std::uint8_t record = 0;         // events carry a Detail
  std::uint8_t content_parts = 0;  // --hash: events::payload::Part
  std::uint8_t whole_bytes = 0;    // --inline-payloads
  std::uint8_t frames = 1;         // of a call path
  std::uint8_t pcontrol_ipm = 0;   // --pcontrol ipm
  char record_region[123] = {};    // --record-region; empty: everything
};

struct Hello {
  std::uint32_t version = kProtocolVersion;
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  std::int32_t pid = 0;
};

struct Welcome {
  std::uint32_t version = kProtocolVersion;
  std::uint32_t has_segment = 0;
  std::uint64_t segment_bytes = 0;
  std::uint64_t rules_bytes = 0;  // of a compute table, packed (semantics/time_settings.hpp); they follow
  Config config;
};

struct Start {
  std::uint32_t active = 0;  // 0: this job runs as plain MPI after all
  std::uint32_t direct = 0;
  std::uint32_t shared_memory = 0;
  std::int32_t threads_provided = 0;  // the level MPI_Init_thread gave
  std::int32_t native_threads = 0;    // threads that the MPI library started itself
  std::int32_t cores = 0;
};

/// Whole-structure transfers; false on end of file or error.
[[nodiscard]] bool send_all(int fd, const void* data, std::size_t size);
[[nodiscard]] bool receive_all(int fd, void* data, std::size_t size);
/// One byte with descriptors attached (SCM_RIGHTS), and its counterpart.
[[nodiscard]] bool send_descriptors(int fd, int first, int second);
[[nodiscard]] bool receive_descriptors(int fd, int& first, int& second);

/// Connects to the abstract unix socket `name`, or to `HOST:PORT`; -1 if nobody is there within
/// `milliseconds`.
[[nodiscard]] int connect_unix(const std::string& name);
[[nodiscard]] int connect_tcp(const std::string& address);
/// Listens; -1 with errno set.
[[nodiscard]] int listen_unix(const std::string& name);
/// Listens on any interface and writes the port.
[[nodiscard]] int listen_tcp(std::uint16_t& port);

}  // namespace nplus1::transport

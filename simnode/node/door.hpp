// Where ranks come in: listens, and lets in only who proves that it belongs to the job (stubs/transport/proof.hpp).
// Until then a guest is given nothing but a socket to prove it on: no memory that its words size, no wait, and a
// few seconds. Strangers on the same host are turned away by the kernel's word for who they are.
// One thread, the simulator's, whose epoll instance it shares: nothing here blocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stubs/transport/handshake.hpp"
#include "stubs/transport/meeting.hpp"

namespace nplus1::simnode::node {

/// A rank that has proved that it is one.
struct Arrival {
  int socket = -1;
  bool local = false;  // over the unix socket
  transport::Hello hello;
};

class Door {
 public:
  using Clock = std::chrono::steady_clock;
  /// How long a guest may take to prove itself, and how many may be at it.
  static constexpr std::chrono::seconds kPatience{5};
  static constexpr std::size_t kMostGuests = 256;

  explicit Door(int epoll) : epoll_{epoll} {}
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  enum class Hosts : std::uint8_t {
    kThis,         // a unix socket alone
    kThisOverTcp,  // and the loopback
    kSeveral,      // and all of this host's addresses
  };
  /// Listens under a name and with a key that nobody can guess. False with errno set on failure.
  [[nodiscard]] bool open(Hosts hosts);
  /// What the ranks must know to come in.
  [[nodiscard]] const transport::Meeting& meeting() const { return meeting_; }
  /// Nobody else comes in.
  void close();

  /// Whether `fd` is the door's: then serve() it when it is readable.
  [[nodiscard]] bool knows(int fd) const;
  void serve(int fd);
  /// Turns away who has taken too long.
  void tick(Clock::time_point now);
  [[nodiscard]] bool has_guests() const { return !guests_.empty(); }
  /// Who has come in since the last time. Their sockets are not in the epoll instance any more.
  [[nodiscard]] std::vector<Arrival> arrivals();
  /// Who was turned away and why, in one sentence; empty if nobody was.
  [[nodiscard]] std::string refused() const;

 private:
  struct Guest {
    bool local = false;
    Clock::time_point until;
    std::size_t got = 0;  // bytes of the challenge, then of the hello
    bool challenged = false;
    transport::Challenge challenge;
    transport::Nonce nonce{};
    transport::Hello hello;
  };

  [[nodiscard]] bool watch(int fd) const;
  void let_in(int listener);
  void answer(int fd, Guest& guest);
  void judge(int fd, const Guest& guest);
  void turn_away(int fd, const std::string& why);
  void count(const std::string& why);

  int epoll_;
  int unix_listener_ = -1;
  int tcp_listener_ = -1;
  transport::Meeting meeting_;
  std::map<int, Guest> guests_;  // by socket
  std::vector<Arrival> arrivals_;
  std::map<std::string, int> refused_;
};

}  // namespace nplus1::simnode::node

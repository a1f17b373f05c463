#include "simnode/node/door.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace nplus1::simnode::node {
namespace {

using transport::Side;

/// Reads on into `whole`, of which `got` bytes are there: 1 complete, 0 not yet, -1 the guest has gone.
template <class Whole>
int read_on(int fd, Whole& whole, std::size_t& got) {
  while (got < sizeof(whole)) {
    const ssize_t n = recv(fd, reinterpret_cast<char*>(&whole) + got, sizeof(whole) - got, MSG_DONTWAIT);
    if (n > 0)
      got += static_cast<std::size_t>(n);
    else if (n < 0 && errno == EINTR)
      continue;
    else
      return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : -1;
  }
  return 1;
}

std::string host_name() {
  char name[256] = "localhost";
  gethostname(name, sizeof(name) - 1);
  return name;
}

}  // namespace

Door::~Door() {
  close();
}

bool Door::watch(int fd) const {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool Door::open(Hosts hosts) {
  const auto key = transport::random_bytes();
  const auto name = transport::random_bytes();
  if (!key || !name) return false;
  meeting_.key = *key;
  meeting_.name = "nplus1-" + transport::to_hex(*name);
  unix_listener_ = transport::listen_unix(meeting_.name);
  if (unix_listener_ < 0 || !watch(unix_listener_)) return false;
  if (hosts == Hosts::kThis) return true;
  const bool only_here = hosts == Hosts::kThisOverTcp;
  std::uint16_t port = 0;
  tcp_listener_ = transport::listen_tcp(port, only_here);
  if (tcp_listener_ < 0 || !watch(tcp_listener_)) return false;
  meeting_.address = fmt::format("{}:{}", only_here ? "127.0.0.1" : host_name(), port);
  return true;
}

void Door::close() {
  while (!guests_.empty()) turn_away(guests_.begin()->first, "came too late");
  for (int* listener : {&unix_listener_, &tcp_listener_}) {
    if (*listener >= 0) ::close(*listener);
    *listener = -1;
  }
}

bool Door::knows(int fd) const {
  return fd == unix_listener_ || fd == tcp_listener_ || guests_.count(fd) != 0;
}

void Door::serve(int fd) {
  if (fd == unix_listener_ || fd == tcp_listener_) return let_in(fd);
  if (const auto guest = guests_.find(fd); guest != guests_.end()) answer(fd, guest->second);
}

void Door::let_in(int listener) {
  const int socket = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) return;
  Guest guest;
  guest.local = listener == unix_listener_;
  guest.until = Clock::now() + kPatience;
  if (guest.local && transport::peer_of(socket).user != geteuid()) {
    ::close(socket);
    return count("belonged to another user");
  }
  if (guests_.size() >= kMostGuests) {  // the one that has had most time makes room
    const auto oldest = std::min_element(guests_.begin(), guests_.end(), [](const auto& a, const auto& b) {
      return a.second.until < b.second.until;
    });
    turn_away(oldest->first, "said nothing");
  }
  if (watch(socket))
    guests_.emplace(socket, guest);
  else
    ::close(socket);
}

void Door::answer(int fd, Guest& guest) {
  if (!guest.challenged) {
    const int read = read_on(fd, guest.challenge, guest.got);
    if (read < 0) return turn_away(fd, "left without a word");
    if (read == 0) return;
    const auto nonce = transport::random_bytes();
    transport::Response response;
    if (!nonce || guest.challenge.version != response.version)
      return turn_away(fd, "spoke another version's language, or none");
    guest.nonce = response.nonce = *nonce;
    response.proof = transport::prove(meeting_.key, Side::kSimulator, guest.challenge.nonce, *nonce, "");
    // It fits into the buffer of a socket that nothing was sent on.
    if (send(fd, &response, sizeof(response), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(response))
      return turn_away(fd, "did not listen");
    guest.challenged = true;
    guest.got = 0;
  }
  const int read = read_on(fd, guest.hello, guest.got);
  if (read < 0) return turn_away(fd, "left without proving that it belongs to the job");
  if (read > 0) judge(fd, guest);
}

void Door::judge(int fd, const Guest& guest) {
  const transport::Proof wanted =
      transport::prove(meeting_.key, Side::kRank, guest.challenge.nonce, guest.nonce, guest.hello.said());
  if (!transport::same(guest.hello.proof, wanted)) return turn_away(fd, "did not know the job's key");
  arrivals_.push_back({fd, guest.local, guest.hello});
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
  guests_.erase(fd);
}

void Door::turn_away(int fd, const std::string& why) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
  ::close(fd);
  guests_.erase(fd);
  count(why);
}

void Door::count(const std::string& why) {
  ++refused_[why];
}

void Door::tick(Clock::time_point now) {
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    const auto next = std::next(guest);
    if (now > guest->second.until) turn_away(guest->first, "said nothing");
    guest = next;
  }
}

std::vector<Arrival> Door::arrivals() {
  return std::exchange(arrivals_, {});
}

std::string Door::refused() const {
  int all = 0;
  std::string reasons;
  for (const auto& [why, times] : refused_) {
    all += times;
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", times, why);
  }
  if (all == 0) return "";
  return fmt::format("{} {} refused that {} not of this job: {}", all,
                     all == 1 ? "connection was" : "connections were", all == 1 ? "was" : "were", reasons);
}

}  // namespace nplus1::simnode::node

#include "stubs/transport/handshake.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace nplus1::transport {
namespace {

/// An abstract unix address: it needs no file and vanishes with its socket.
socklen_t abstract_address(const std::string& name, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

int close_and_fail(int fd) {
  const int saved = errno;
  close(fd);
  errno = saved;
  return -1;
}

void no_delay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/// Waits until `fd` can be read or written; false when the time is up.
bool wait_for(int fd, short what, Deadline until) {
  for (;;) {
    int left = -1;
    if (until != kNoDeadline) {
      const auto rest =
          std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      if (rest.count() <= 0) return false;
      left = static_cast<int>(std::min<std::int64_t>(rest.count(), 60'000));
    }
    pollfd waiting{fd, what, 0};
    const int ready = poll(&waiting, 1, left);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

/// Repeats `transfer(at, size)`, which must not block, until all is done.
template <class Transfer>
bool transfer_all(int fd, short what, char* at, std::size_t size, Deadline until, Transfer&& transfer) {
  while (size > 0) {
    const ssize_t n = transfer(at, size);
    if (n > 0) {
      at += n;
      size -= static_cast<std::size_t>(n);
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) {
      return false;
    } else if (errno != EINTR && !wait_for(fd, what, until)) {
      return false;
    }
  }
  return true;
}

bool connect_within(int fd, const sockaddr* address, socklen_t length, Deadline until) {
  if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return false;
  if (connect(fd, address, length) != 0) {
    int error = 0;
    socklen_t size = sizeof(error);
    if (errno != EINPROGRESS || !wait_for(fd, POLLOUT, until)) return false;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) return false;
  }
  return fcntl(fd, F_SETFL, 0) == 0;
}

}  // namespace

std::string Hello::said() const {
  std::string text(3 * sizeof(std::int32_t), '\0');
  const std::int32_t numbers[3] = {rank, ranks, pid};
  std::memcpy(text.data(), numbers, sizeof(numbers));
  return text;
}

bool send_all(int fd, const void* data, std::size_t size, Deadline until) {
  return transfer_all(
      fd, POLLOUT, static_cast<char*>(const_cast<void*>(data)), size, until,
      [fd](const char* at, std::size_t left) { return send(fd, at, left, MSG_NOSIGNAL | MSG_DONTWAIT); });
}

bool receive_all(int fd, void* data, std::size_t size, Deadline until) {
  return transfer_all(fd, POLLIN, static_cast<char*>(data), size, until,
                      [fd](char* at, std::size_t left) { return recv(fd, at, left, MSG_DONTWAIT); });
}

bool send_descriptors(int fd, int first, int second) {
  char byte = 0;
  iovec io{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const int descriptors[2] = {first, second};
  std::memcpy(CMSG_DATA(header), descriptors, sizeof(descriptors));
  return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

bool receive_descriptors(int fd, int& first, int& second, Deadline until) {
  char byte = 0;
  iovec io{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  if (!wait_for(fd, POLLIN, until)) return false;
  ssize_t n = 0;
  do n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  while (n < 0 && errno == EINTR);
  const cmsghdr* header = n == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return false;
  int descriptors[2] = {-1, -1};
  const std::size_t bytes = std::min(header->cmsg_len - CMSG_LEN(0), sizeof(descriptors));
  std::memcpy(descriptors, CMSG_DATA(header), bytes);
  if (bytes != sizeof(descriptors) || (message.msg_flags & MSG_CTRUNC) != 0) {
    for (const int d : descriptors)
      if (d >= 0) close(d);
    return false;
  }
  first = descriptors[0];
  second = descriptors[1];
  return true;
}

std::optional<std::string> prove_as_rank(int fd, const Key& key, Hello hello, Deadline until) {
  const auto nonce = random_bytes();
  if (!nonce) return "the kernel gives no random numbers";
  const Challenge challenge{kProtocolVersion, *nonce};
  Response response;
  if (!send_all(fd, &challenge, sizeof(challenge), until) ||
      !receive_all(fd, &response, sizeof(response), until))
    return "the simulator does not answer, or has refused";
  if (response.version != kProtocolVersion) return "the simulator is of another version of nplus1";
  if (!same(response.proof, prove(key, Side::kSimulator, *nonce, response.nonce, "")))
    return "who answers in the simulator's place does not know the job's key";
  hello.proof = prove(key, Side::kRank, *nonce, response.nonce, hello.said());
  if (!send_all(fd, &hello, sizeof(hello), until)) return "the simulator has gone";
  return std::nullopt;
}

Peer peer_of(int unix_socket) {
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (getsockopt(unix_socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return {};
  return {credentials.uid, credentials.pid};
}

int connect_unix(const std::string& name) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  sockaddr_un address;
  const socklen_t length = abstract_address(name, address);
  const timeval patience{10, 0};  // where more wait than the listener has room for
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), length) != 0) return close_and_fail(fd);
  const timeval none{};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none));
  return fd;
}

int connect_tcp(const std::string& address, Deadline until) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return -1;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string host = address.substr(0, colon);
  if (getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &found) != 0) return -1;
  int fd = -1;
  for (const addrinfo* a = found; a != nullptr && fd < 0; a = a->ai_next) {
    fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (fd >= 0 && !connect_within(fd, a->ai_addr, a->ai_addrlen, until)) fd = close_and_fail(fd);
  }
  freeaddrinfo(found);
  if (fd >= 0) no_delay(fd);
  return fd;
}

int listen_unix(const std::string& name) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  sockaddr_un address;
  const socklen_t length = abstract_address(name, address);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), length) != 0 || listen(fd, 4096) != 0)
    return close_and_fail(fd);
  return fd;
}

int listen_tcp(std::uint16_t& port, bool only_here) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(only_here ? INADDR_LOOPBACK : INADDR_ANY);
  socklen_t length = sizeof(address);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), length) != 0 || listen(fd, 4096) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    return close_and_fail(fd);
  port = ntohs(address.sin_port);
  return fd;
}

}  // namespace nplus1::transport

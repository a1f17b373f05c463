#include "stubs/runtime/keeper_pmi.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace nplus1::stubs {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits until `descriptor` can be read; false when `deadline` is over.
bool wait_readable(int descriptor, std::optional<Clock::time_point> deadline) {
  for (;;) {
    int timeout = -1;
    if (deadline) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - Clock::now()).count();
      timeout = left > 0 ? static_cast<int>(left) : 0;
    }
    pollfd waiting{descriptor, POLLIN, 0};
    const int ready = poll(&waiting, 1, timeout);
    if (ready >= 0) return ready > 0;
    if (errno != EINTR) return false;
  }
}

/// Asks, then skips lines until one starts with `expected`.
std::optional<std::string> ask(int descriptor, LineReader& lines, std::string_view question,
                               std::string_view expected) {
  if (!write_all(descriptor, question)) return std::nullopt;
  while (auto line = lines.next()) {
    if (line->compare(0, expected.size(), expected) == 0) return line;
  }
  return std::nullopt;
}

/// False if the job is over.
bool publish(int descriptor, LineReader& lines, const std::string& address) {
  constexpr std::string_view kKey = "kvsname=";
  const auto answer = ask(descriptor, lines, "cmd=get_my_kvsname\n", "cmd=my_kvsname");
  if (!answer) return false;
  const auto begin = answer->find(kKey);
  if (begin == std::string::npos) return true;
  const auto start = begin + kKey.size();
  const std::string kvs = answer->substr(start, answer->find(' ', start) - start);
  const std::string put = "cmd=put kvsname=" + kvs + " key=nplus1 value=" + address + "\n";
  return ask(descriptor, lines, put, "cmd=put_result").has_value();
}

}  // namespace

std::optional<std::string> LineReader::next(std::optional<std::chrono::milliseconds> limit) {
  std::optional<Clock::time_point> deadline;
  if (limit) deadline = Clock::now() + *limit;
  for (;;) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    if (!fill(deadline)) return std::nullopt;
  }
}

bool LineReader::fill(std::optional<Clock::time_point> deadline) {
  if (!wait_readable(descriptor_, deadline)) return false;
  std::array<char, 1024> chunk;
  ssize_t got = 0;
  do got = read(descriptor_, chunk.data(), chunk.size());
  while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  return true;
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void answer_barriers(int pmi_descriptor, const std::string& address) {
  LineReader lines{pmi_descriptor};
  bool published = address.empty();
  while (ask(pmi_descriptor, lines, "cmd=barrier_in\n", "cmd=barrier_out")) {
    if (published) continue;
    if (!publish(pmi_descriptor, lines, address)) return;
    published = true;
  }
}

}  // namespace nplus1::stubs

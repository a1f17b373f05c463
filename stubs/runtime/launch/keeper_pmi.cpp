#include "stubs/runtime/launch/keeper_pmi.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
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

constexpr const char* kMeeting = "nplus1";
constexpr const char* kBegun = "nplus1-begun";

/// Hydra's answer to `command` ("put", "get") with `rest` in the job's key-value space; nothing if the job is over.
std::optional<std::string> ask_space(int descriptor, const std::string& command, const std::string& rest,
                                     std::string_view expected) {
  LineReader lines{descriptor};
  const auto answer = ask(descriptor, lines, "cmd=get_my_kvsname\n", "cmd=my_kvsname");
  if (!answer) return std::nullopt;
  const std::string space = value_of(*answer, "kvsname");
  if (space.empty()) return "";
  return ask(descriptor, lines, "cmd=" + command + " kvsname=" + space + " " + rest + "\n", expected);
}

/// False if the job is over.
bool publish(int descriptor, const std::string& key, const std::string& value) {
  return ask_space(descriptor, "put", "key=" + key + " value=" + value, "cmd=put_result").has_value();
}

bool has_begun(int descriptor) {
  const auto answer = ask_space(descriptor, "get", std::string{"key="} + kBegun, "cmd=get_result");
  return answer && value_of(*answer, "rc") == "0";
}

constexpr std::size_t kLongestLine = 4096;

/// The next line with its newline, left where it is: whoever takes over after a kill finds it there still. Empty when
/// there is none yet; nothing at the end of the job.
std::optional<std::string> look_at_line(int descriptor) {
  std::array<char, kLongestLine> chunk;
  const ssize_t got = recv(descriptor, chunk.data(), chunk.size(), MSG_PEEK | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return "";
  if (got <= 0) return std::nullopt;
  const std::string_view seen{chunk.data(), static_cast<std::size_t>(got)};
  const std::size_t end = seen.find('\n');
  if (end == seen.npos && seen.size() == chunk.size()) return std::nullopt;  // no line of PMI's
  return end == seen.npos ? std::string{} : std::string{seen.substr(0, end + 1)};
}

bool take_line(int descriptor, std::size_t length) {
  std::array<char, kLongestLine> chunk;
  return recv(descriptor, chunk.data(), length, 0) == static_cast<ssize_t>(length);
}

/// As MPI_Finalize does it; then the connection is at its end for all who hold it.
void take_leave(int descriptor) {
  LineReader lines{descriptor};
  ask(descriptor, lines, "cmd=finalize\n", "cmd=finalize_ack");
  shutdown(descriptor, SHUT_RDWR);
}

bool is_way_out(const std::string& line) {
  constexpr std::string_view kWayOut = "cmd=barrier_out";
  return line.compare(0, kWayOut.size(), kWayOut) == 0;
}

/// Waits for something to read, or for `watched` to hang up. False when the job is over.
bool wait_for_line(int descriptor, bool unfinished, int& watched, const std::function<int()>& while_waiting) {
  constexpr int kUnfinishedMs = 1;  // the rest of a line that is there in part makes poll() return at once
  if (unfinished) poll(nullptr, 0, kUnfinishedMs);
  pollfd waiting[2] = {{descriptor, POLLIN, 0}, {watched, 0, 0}};
  if (poll(waiting, watched < 0 ? 1 : 2, -1) < 0) return errno == EINTR;
  if (watched >= 0 && waiting[1].revents != 0) watched = while_waiting();
  return true;
}

/// What a predecessor has seen but not taken.
bool skip_old_lines(int descriptor) {
  for (;;) {
    const auto line = look_at_line(descriptor);
    if (!line) return false;
    if (line->empty()) return true;
    if (!take_line(descriptor, line->size())) return false;
  }
}

bool enter(int descriptor, Duty& duty) {
  if (duty.entered) return true;  // as the predecessor has done
  if (!skip_old_lines(descriptor)) return false;
  duty.entered = true;
  return write_all(descriptor, "cmd=barrier_in\n");
}

}  // namespace

std::string value_of(const std::string& line, const std::string& key) {
  const std::size_t at = line.find(" " + key + "=");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size() + 2;
  return line.substr(begin, line.find(' ', begin) - begin);
}

void announce_beginning(int pmi_descriptor) {
  publish(pmi_descriptor, kBegun, "1");
}

void answer_barriers(int pmi_descriptor, const std::string& word, Duty& duty, int watched,
                     const std::function<int()>& while_waiting, bool until_finalized) {
  bool partly = false;
  while (enter(pmi_descriptor, duty)) {
    if (!wait_for_line(pmi_descriptor, partly, watched, while_waiting)) return;
    const auto line = look_at_line(pmi_descriptor);
    if (!line) return;
    int unread = 0;
    partly = line->empty() && ioctl(pmi_descriptor, FIONREAD, &unread) == 0 && unread > 0;
    if (line->empty()) continue;
    const bool out = is_way_out(*line);
    if (out) duty.entered = false;
    if (!take_line(pmi_descriptor, line->size())) return;
    if (!out) continue;
    if (until_finalized && has_begun(pmi_descriptor)) return take_leave(pmi_descriptor);
    if (word.empty() || duty.published.exchange(true)) continue;
    if (!publish(pmi_descriptor, kMeeting, word)) return;
  }
}

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

}  // namespace nplus1::stubs

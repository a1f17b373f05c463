// The keepers' side of Hydra's PMI-1 wire protocol: lines `cmd=... key=value ...\n` on a socket.
// Single-threaded. The end of the job shows as end of file or an error on the socket: functions return
// nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace nplus1::stubs {

/// Splits a byte stream into lines; copes with partial reads, several lines per read, and signals.
class LineReader {
 public:
  explicit LineReader(int descriptor) : descriptor_{descriptor} {}

  /// The next line without its newline; nothing at end of file, on an error, or when `limit` is over.
  [[nodiscard]] std::optional<std::string> next(std::optional<std::chrono::milliseconds> limit = {});

 private:
  bool fill(std::optional<std::chrono::steady_clock::time_point> deadline);

  int descriptor_;
  std::string buffer_;
};

/// Writes all of `text`; false if the other side is gone.
bool write_all(int descriptor, std::string_view text);

/// What `value` is in an answer of Hydra's.
[[nodiscard]] std::string value_of(const std::string& line, const std::string& key);

/// That MPI_Init is over, under the key `nplus1-begun`, for keepers who have to know when the job ends: the next barrier
/// that MPI passes is that of MPI_Finalize. MPI's own PMI client must be at rest.
void announce_beginning(int pmi_descriptor);

/// How far the answering has come, in memory that outlives the keeper who does it: its successor goes on from there.
/// Each step is noted before what cannot be done twice, so that whenever a keeper is killed, at most some
/// microseconds of its work are in doubt.
struct Duty {
  std::atomic<bool> entered{false};    // `barrier_in` was sent, its `barrier_out` not seen
  std::atomic<bool> published{false};  // or begun to be
};

/// Takes part in every PMI barrier until the job is over. `word` (if any) is published under the key
/// `nplus1` between the first and the second barrier: Hydra drops what is put before the first.
/// `while_waiting` is called when `watched` (if not -1) hangs up; it returns what to watch next.
/// Where nobody else is on this host (`until_finalized`), the connection ends only with us: then the job is over with the
/// first barrier after the announced beginning, and we take leave.
void answer_barriers(int pmi_descriptor, const std::string& word, Duty& duty, int watched = -1,
                     const std::function<int()>& while_waiting = {}, bool until_finalized = false);

}  // namespace nplus1::stubs

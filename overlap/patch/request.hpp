// What nplus1-patch is asked and what it answers: chains of blocking calls that are to become non-blocking in the
// source, and for each of them a unified diff or the reason why there is none. As JSON on its standard input and
// output (docs/formats/patch.md), so that nplus1 itself links no compiler. Values only: any thread, no failure but
// JSON that isn't a request or an answer, which is an Error that names the key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/result.hpp"

namespace nplus1::overlap::patch {

/// A line of a source; `line` counts from 1, 0 is no line.
struct Place {
  std::string file;
  int line = 0;
};

enum class CallKind : std::uint8_t { kSend, kReceive, kSendrecv };

/// One call of a chain, as the program made it, in the order of the chain.
struct Call {
  Place place;           ///< in the function that holds the chain: of the MPI function's call
  std::string function;  ///< as in the source: MPI_Send, MPI_Recv or MPI_Sendrecv; others are refused
  CallKind kind = CallKind::kSend;
  /// Whether the recording watched every byte of the call's buffers from the call to where the wait goes, so that
  /// nothing that ran there touched them. Without that word the source alone has to show it, which it can only where
  /// nothing between names the buffer, follows a pointer or calls a function.
  bool watched = false;
  /// The receive is from any source: what it matches must not change, so that nothing may be posted behind it.
  bool any_source = false;
  /// Where the posts could go up to: behind the statement of this line of the call's own file, the analysis' earliest
  /// legal post; 0 where none is earlier. A post stays in the place of its call, and a note says where it could go.
  int post_send_after = 0;
  int post_receive_after = 0;
};

enum class WaitPlace : std::uint8_t {
  kBeforeLine,  ///< before the statement of a line of the function that holds the calls
  kAfterCalls,  ///< straight after the last call's statement
  kEndOfBlock,  ///< at the end of the block that holds the calls, or before what leaves it
};

/// Where the one MPI_Waitall goes at the latest. It goes up from there, with a note, to before what must not stand
/// between the posts and the wait (a return, a branch that names a buffer); what stands between two posts refuses.
struct Wait {
  WaitPlace where = WaitPlace::kAfterCalls;
  Place place;  ///< kBeforeLine only
};

/// Calls of one chain; all in one function.
struct Chain {
  std::string id;  ///< repeated in the answer
  std::vector<Call> calls;
  Wait wait;
  /// The file that the compiler was given, where the calls are in a file that it includes; else empty.
  std::string unit;
};

/// What a source must still be for lines to mean what they meant.
struct SourceState {
  std::string file;
  std::optional<double>
      not_after;  ///< its last change, in seconds since 1970: no later than this (the program's own)
  std::optional<std::uint32_t> crc32;  ///< of its content, as zlib computes it
};

struct Request {
  std::string root;  ///< the folder that the diffs are relative to; empty: the sources' common one
  std::string compile_commands;      ///< a compile_commands.json, or the folder of one; empty: none
  std::optional<std::string> flags;  ///< for all files, as one would type them; goes before compile_commands
  std::string
      compiler;  ///< for the check of the result; empty: the database's, else mpicc.mpich or mpicxx.mpich
  std::vector<SourceState> sources;
  std::vector<Chain> chains;
};

/// Why a chain is not patched. `code` is one word for programs, `reason` a sentence for people.
struct Refusal {
  Place place;
  std::string code;
  std::string reason;
};

/// A diff, or a refusal; never both. `diff` applies to the sources as they are (git apply, patch -p1 in
/// Answer::root).
struct ChainAnswer {
  std::string id;
  std::string diff;
  Place wait;                      ///< the line of the sources that the wait stands before
  std::vector<std::string> notes;  ///< what is different from what was asked, sentences
  std::optional<Refusal> refusal;
  std::string advice;  ///< with a refusal: what to do by hand, with lines (Fortran)
};

struct Answer {
  std::string root;  ///< the folder to apply the diffs in
  std::string diff;  ///< all chains' together, checked together
  std::vector<ChainAnswer> chains;
};

[[nodiscard]] Result<Request> parse_request(const std::string& json);
[[nodiscard]] std::string to_json(const Request& request);
[[nodiscard]] Result<Answer> parse_answer(const std::string& json);
[[nodiscard]] std::string to_json(const Answer& answer);

}  // namespace nplus1::overlap::patch

// What a GOAL file says, one rank's graph after another (docs/formats/exchange.md). One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/ids.hpp"
#include "support/result.hpp"

namespace nplus1::events::goal {

enum class What : unsigned char { kCalc, kSend, kReceive };

/// GOAL's unit of time is the nanosecond.
inline constexpr std::int64_t kPicosecondsPerUnit = 1000;

/// Thrown by what reads a file, and caught there: what is wrong with it.
struct Wrong {
  std::string what;
};

/// Of a receive: from whom, and with which tag, is open.
inline constexpr std::int32_t kAnybody = -1;

struct Operation {
  What what{};
  std::int64_t amount = 0;  // bytes, or nanoseconds
  std::int32_t peer = 0;
  std::int32_t tag = 0;
  std::uint8_t cpu = 0;  // of the rank's processors and interfaces
  std::uint8_t nic = 0;
};

/// `operation` waits for the end of `on`, or (irequires) for its start.
struct Dependence {
  std::uint32_t operation = 0;
  std::uint32_t on = 0;
  bool on_start = false;
};

/// One rank's; both in the order of the file.
struct Graph {
  std::vector<Operation> operations;
  std::vector<Dependence> dependences;
};

class GraphFile {
 public:
  /// Errors name file and line, here and in next().
  [[nodiscard]] static Result<GraphFile> open(const std::filesystem::path& file);
  [[nodiscard]] std::int32_t ranks() const { return ranks_; }
  [[nodiscard]] std::uint64_t bytes() const;
  /// The ranks come in the order of the file; nothing after the last.
  [[nodiscard]] Result<std::optional<std::pair<RankId, Graph>>> next();
  /// An error at the line where reading is.
  [[nodiscard]] Error error(const std::string& what) const;

 private:
  explicit GraphFile(std::filesystem::path file) : file_{std::move(file)}, stream_{file_} {}
  void read_heading();
  std::vector<std::string> next_line();
  RankId rank_in(const std::vector<std::string>& words) const;
  Graph read_graph();

  std::filesystem::path file_;
  std::ifstream stream_;
  std::uint64_t line_ = 0;
  std::int32_t ranks_ = 0;
  std::vector<bool> seen_;
};

}  // namespace nplus1::events::goal

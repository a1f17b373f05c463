// Work in child processes: a network simulator may not be loaded twice into one process, and replays side by
// side use all cores. Called from one thread, in a process without MPI.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "support/processes/codec.hpp"
#include "support/result.hpp"

namespace nplus1::processes {

struct Conditions {
  std::size_t jobs = 1;                                          // children at a time
  std::function<void(std::size_t done)> progress{};              // after each, in this process
  std::optional<std::chrono::duration<double>> limit{};          // for all; then they are ended
  std::optional<std::chrono::steady_clock::time_point> until{};  // no task is begun later
};

/// What went wrong where `limit` ended all.
inline constexpr const char* kTimeIsUp = "the time for it was up";

/// Task number i: its result, as bytes of any kind.
using Work = std::function<Result<std::string>(std::size_t)>;

/// `work(i)` for i < count in a child process each. The results in the order of the tasks; that of one that was not begun
/// is empty. The first error ends all, and so does a child that dies (the error says how) or the time being up; no child
/// is left behind, nor one of a child's. Of what a task throws, Stopped is its error.
[[nodiscard]] Result<std::vector<std::string>> bytes_of_children(std::size_t count,
                                                                 const Conditions& conditions,
                                                                 const Work& work);

/// The same for values that the codec knows: `work(i)` is a Result<T>. A task that was not begun gives a T{}.
template <class Task>
[[nodiscard]] auto in_children(std::size_t count, const Conditions& conditions, const Task& work) {
  using Value = std::remove_cvref_t<decltype(work(std::size_t{}).value())>;
  const auto bytes = bytes_of_children(count, conditions, [&work](std::size_t i) -> Result<std::string> {
    const auto result = work(i);
    if (!result) return result.error();
    return encode(result.value());
  });
  if (!bytes) return Result<std::vector<Value>>{bytes.error()};
  std::vector<Value> values;
  for (const std::string& each : bytes.value())
    values.push_back(each.empty() ? Value{} : decode<Value>(each));
  return Result<std::vector<Value>>{std::move(values)};
}

}  // namespace nplus1::processes

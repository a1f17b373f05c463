// For functions of many steps, each of which can fail: inside, need() takes the value of a step or throws; at the face,
// attempt() makes a Result of it. A Stopped that gets out of a library is a bug of its face. Any thread.
#pragma once

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "support/result.hpp"

namespace nplus1 {

/// `consequence` says what follows where the step that failed knows more of that than whoever asked for all; else it is empty.
class Stopped : public std::exception {
 public:
  explicit Stopped(Error error, std::string consequence = {})
      : error_{std::move(error)}, consequence_{std::move(consequence)} {}
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] const std::string& consequence() const { return consequence_; }
  [[nodiscard]] const char* what() const noexcept override { return error_.what.c_str(); }

 private:
  Error error_;
  std::string consequence_;
};

/// The value; else throws the error, which is `fault`'s unless it says whose it is.
template <class T>
T need(Result<T> result, Fault fault = Fault::kInput, const char* consequence = "") {
  if (result) return std::move(result).value();
  Error error = result.error();
  if (error.fault == Fault::kUnknown) error.fault = fault;
  throw Stopped{std::move(error), consequence};
}

/// What `work` returns, or what stopped it.
template <class Work>
auto attempt(const Work& work) -> Result<std::invoke_result_t<Work>> {
  try {
    return work();
  } catch (const Stopped& stopped) {
    return stopped.error();
  }
}

}  // namespace nplus1

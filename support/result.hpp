// Result<T>: a value or an Error that says what failed, where, and what to do about it.
// For bad input in libraries; broken invariants throw instead.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace nplus1 {

/// Whose it is to mend a failure, where the one who found it knows.
enum class Fault : unsigned char {
  kUnknown,
  kUsage,        // what was asked for makes no sense
  kUnsuitable,   // it cannot be done to this input
  kInput,        // the input is missing or damaged
  kUnavailable,  // a part of nplus1, or a program that it starts, is missing
  kBug,          // ours
  kOutput,       // what came of it cannot be written
};

/// A failure a user can act on: `what` names cause and place (file, offset), `remedy` the next step.
struct Error {
  std::string what;
  std::string remedy;
  Fault fault = Fault::kUnknown;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_{std::move(value)} {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_{std::move(error)} {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & {
    assert(ok());
    return std::get<0>(state_);
  }
  [[nodiscard]] const T& value() const& {
    assert(ok());
    return std::get<0>(state_);
  }
  [[nodiscard]] T&& value() && {
    assert(ok());
    return std::get<0>(std::move(state_));
  }
  [[nodiscard]] const Error& error() const {
    assert(!ok());
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

}  // namespace nplus1

// Result<T>: a value or an Error that says what failed, where, and what to do about it.
// For bad input in libraries; broken invariants throw instead.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace nplus1 {

/// A failure a user can act on: `what` names cause and place (file, offset), `remedy` the next step.
struct Error {
  std::string what;
  std::string remedy;
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

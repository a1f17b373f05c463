// Values as bytes, from a child process to its parent: both are one program, so there are no versions and no byte order.
//
// Known are values that may be copied byte by byte, strings, vectors, maps, pairs, optionals, Errors and Results, and structs of
// these that list their members: `static constexpr auto kMembers = std::tuple{&S::a, &S::b};`. Pure; any thread.
#pragma once

#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/result.hpp"

namespace nplus1::processes {

class Encoder {
 public:
  template <class T>
  void put(const T& value) {
    if constexpr (requires { T::kMembers; })
      std::apply([&](auto... member) { (put(value.*member), ...); }, T::kMembers);
    else {
      static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>, "a struct needs kMembers");
      const std::size_t at = bytes_.size();
      bytes_.resize(at + sizeof(T));
      std::memcpy(bytes_.data() + at, &value, sizeof(T));
    }
  }
  void put(const std::string& text) {
    put(text.size());
    bytes_ += text;
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(values.size());
    for (const T& value : values) put(value);
  }
  template <class K, class V>
  void put(const std::map<K, V>& values) {
    put(values.size());
    for (const auto& [key, value] : values) put(key), put(value);
  }
  template <class A, class B>
  void put(const std::pair<A, B>& pair) {
    put(pair.first), put(pair.second);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  void put(const Error& error) { put(error.what), put(error.remedy), put(error.fault); }
  template <class T>
  void put(const Result<T>& result) {
    put(result.ok());
    if (result)
      put(result.value());
    else
      put(result.error());
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Throws std::runtime_error where the bytes end early: the child was cut off.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_{bytes} {}

  template <class T>
  void get(T& value) {
    if constexpr (requires { T::kMembers; })
      std::apply([&](auto... member) { (get(value.*member), ...); }, T::kMembers);
    else {
      static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>, "a struct needs kMembers");
      std::memcpy(&value, next(sizeof(T)).data(), sizeof(T));
    }
  }
  void get(std::string& text) { text = std::string{next(size())}; }
  template <class T>
  void get(std::vector<T>& values) {
    values.clear();
    for (std::size_t left = size(); left > 0; --left) get(values.emplace_back());
  }
  template <class K, class V>
  void get(std::map<K, V>& values) {
    values.clear();
    for (std::size_t left = size(); left > 0; --left) {
      K key{};
      get(key);
      get(values[std::move(key)]);
    }
  }
  template <class A, class B>
  void get(std::pair<A, B>& pair) {
    get(pair.first), get(pair.second);
  }
  template <class T>
  void get(std::optional<T>& value) {
    bool has = false;
    get(has);
    value.reset();
    if (has) get(value.emplace());
  }
  void get(Error& error) { get(error.what), get(error.remedy), get(error.fault); }
  /// The value, or the error.
  template <class T>
  [[nodiscard]] Result<T> result() {
    bool ok = false;
    get(ok);
    if (ok) {
      T value{};
      get(value);
      return value;
    }
    Error error;
    get(error);
    return error;
  }

 private:
  std::size_t size() {
    std::size_t n = 0;
    get(n);
    return n;
  }
  std::string_view next(std::size_t count) {
    if (count > bytes_.size()) throw std::runtime_error{"what a child process has said is cut"};
    const std::string_view here = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return here;
  }

  std::string_view bytes_;
};

template <class T>
[[nodiscard]] std::string encode(const T& value) {
  Encoder encoder;
  encoder.put(value);
  return encoder.take();
}

template <class T>
[[nodiscard]] T decode(std::string_view bytes) {
  Decoder decoder{bytes};
  T value{};
  decoder.get(value);
  return value;
}

}  // namespace nplus1::processes

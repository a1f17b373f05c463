// JSON written in the order of the calls, one key a line, so that a result file can be read, and compared
// line by line. For files whose numbers must stay exact (virtual times with 12 decimals). Not thread-safe;
// never fails.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>

namespace nplus1::report {

/// A JSON object under construction, in the order of the calls.
class JsonObject {
 public:
  JsonObject() = default;
  void raw(std::string_view key, std::string_view value) {
    text_ += text_.empty() ? "  \"" : ",\n  \"";
    text_.append(key).append("\": ").append(value);
  }
  /// Bytes that are no UTF-8 (a program's name may hold any) become replacement characters.
  void text(std::string_view key, const std::string& value) { raw(key, quoted(value)); }
  void number(std::string_view key, std::uint64_t value) { raw(key, std::to_string(value)); }
  void real(std::string_view key, double value) {
    raw(key, std::isfinite(value) ? nlohmann::json(value).dump() : "null");
  }
  void truth(std::string_view key, bool value) { raw(key, value ? "true" : "false"); }
  template <class Range, class Print>
  void list(std::string_view key, const Range& range, Print print, const char* separator = ", ") {
    raw(key, joined(range, print, separator));
  }
  [[nodiscard]] std::string document() const { return "{\n" + text_ + "\n}\n"; }
  [[nodiscard]] std::string inner() const { return "{\n" + text_ + "\n  }"; }

  static std::string quoted(const std::string& value) {
    return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  template <class Range, class Print>
  static std::string joined(const Range& range, Print print, const char* separator = ", ") {
    std::string text = "[";
    const char* between = "";
    for (const auto& item : range) {
      text += between + print(item);
      between = separator;
    }
    return text + "]";
  }

 private:
  std::string text_;

 public:
  static constexpr auto kMembers = std::tuple{&JsonObject::text_};  // for support/processes/codec.hpp
};

}  // namespace nplus1::report

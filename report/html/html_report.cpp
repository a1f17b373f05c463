#include "report/html/html_report.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "report/html/page_template.hpp"

namespace nplus1::report::html {
namespace {

constexpr std::size_t kLargestPlainDocument = std::size_t{1} << 20U;
constexpr int kFastCompression = 3;  // digits compress by 4 to 10 at any level; this one is quick

std::string escaped_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// JSON that cannot end its script element, nor a line of JavaScript: `<` (only in strings), U+2028 and
/// U+2029.
std::string escaped_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view three = json.substr(i, 3);
    if (json[i] == '<') {
      out += "\\u003c";
    } else if (three == "\xe2\x80\xa8" || three == "\xe2\x80\xa9") {
      out += three.back() == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += json[i];
    }
  }
  return out;
}

std::string deflated(std::string_view text) {
  uLongf size = compressBound(text.size());
  std::string out(size, '\0');
  const auto* source = reinterpret_cast<const Bytef*>(text.data());
  auto* target = reinterpret_cast<Bytef*>(out.data());
  if (compress2(target, &size, source, text.size(), kFastCompression) != Z_OK) {
    throw std::runtime_error{"zlib could not compress a document"};
  }
  out.resize(size);
  return out;
}

/// RFC 4648, section 4.
std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve(bytes.size() / 3 * 4 + 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto byte = i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U;
      group = group << 8U | byte;
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k <= bytes.size() ? kDigits[group >> (18U - 6U * k) & 63U] : '=';
    }
  }
  return out;
}

std::string element(std::string_view name, std::string_view json) {
  if (json.empty()) return {};
  if (json.size() <= kLargestPlainDocument) {
    return fmt::format("<script type=\"application/json\" id=\"data-{}\">\n{}\n</script>\n", name,
                       escaped_json(json));
  }
  return fmt::format(
      "<script type=\"application/octet-stream\" id=\"data-{}\" data-encoding=\"deflate\">\n{}\n</script>\n",
      name, base64(deflated(json)));
}

/// `text` up to `mark`, which is taken out of it.
std::string_view take_until(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == text.npos) throw std::logic_error{"the page's template lacks " + std::string{mark}};
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at + mark.size());
  return before;
}

}  // namespace

std::string page(std::string_view title, const Documents& documents) {
  std::string_view rest = kPageTemplate;
  std::string out{take_until(rest, "@TITLE@")};
  out += escaped_text(title);
  out += take_until(rest, "@DATA@");
  for (const auto& [name, json] : documents.all()) {
    if (name == "summary")
      out += element(name, without_member(json, "point_to_point"));
    else if (name == "collectives")
      out += element(name, fmt::format("{{\"schema\": \"nplus1-collectives/1\", \"findings\": {}}}", json));
    else
      out += element(name, json);
  }
  out += rest;
  return out;
}

std::string without_member(std::string_view json, std::string_view key) {
  using Json = nlohmann::ordered_json;
  const auto keep = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    return depth != 1 || event != Json::parse_event_t::key || parsed != key;
  };
  const Json rest = Json::parse(json, keep, false);
  return rest.is_object() ? rest.dump() : std::string{json};
}

Result<Done> check_document(std::string_view text, std::string_view schema, const std::string& name) {
  using nlohmann::json;
  const Error damaged{name + " is no " + std::string{schema} + " document",
                      "it may be cut off or of another program: make it again"};
  std::string found;
  // Only the top level's strings are kept: the document may be large.
  const auto keep = [&](int depth, json::parse_event_t event, json& parsed) {
    return depth <= 1 && (event == json::parse_event_t::key ? parsed == "schema" : true);
  };
  const json top = json::parse(text, keep, false);
  if (top.is_object() && top.contains("schema") && top["schema"].is_string()) found = top["schema"];
  const std::string family{schema.substr(0, schema.find('/') + 1)};
  if (found.rfind(family, 0) != 0) return damaged;
  if (std::atoi(found.c_str() + family.size()) > std::atoi(schema.data() + family.size())) {
    return Error{
        name + " is of schema " + found + ", newer than this nplus1 knows (" + std::string{schema} + ")",
        "use the nplus1 that made it, or a newer one"};
  }
  return Done{};
}

Result<Done> write_report(const std::filesystem::path& path, std::string_view title,
                          const Documents& documents) {
  return write_file(path, page(title, documents));
}

}  // namespace nplus1::report::html

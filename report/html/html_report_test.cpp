#include "report/html/html_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace nplus1::report::html {
namespace {

using nlohmann::json;

/// What is between the tags of the element with that id.
std::string content(const std::string& page, const std::string& id) {
  const std::size_t tag = page.find("id=\"" + id + "\"");
  const std::size_t begin = page.find('>', tag) + 1;
  return page.substr(begin, page.find("</script>", begin) - begin);
}

std::size_t occurrences(const std::string& text, const std::string& of) {
  std::size_t count = 0;
  for (std::size_t at = text.find(of); at != text.npos; at = text.find(of, at + 1)) ++count;
  return count;
}

std::string page_of(std::string_view title, std::string_view patterns, std::string_view summary = {}) {
  Documents documents;
  documents.add("patterns", patterns);
  documents.add("summary", summary);
  return page(title, documents);
}

TEST(HtmlReport, HoldsItsDocumentsAsTheyAre) {
  const std::string patterns = R"({"ranks": 4, "name": "a"})";
  const std::string html = page_of("CG", patterns, R"({"point_to_point": [1], "clock": "cpu"})");
  EXPECT_EQ(json::parse(content(html, "data-patterns")), json::parse(patterns));
  EXPECT_EQ(json::parse(content(html, "data-summary")), (json{{"clock", "cpu"}}));
  EXPECT_EQ(html.find("id=\"data-timeline\""), html.npos);
  EXPECT_NE(html.find("<title>CG</title>"), html.npos);
}

TEST(HtmlReport, NoStringInTheDataCanEndItsElement) {
  const json original{{"name", "</script><script>alert(1)</script><!--\xe2\x80\xa8\xe2\x80\xa9"}};
  const std::string text = original.dump();
  const std::string html = page_of("x", text);
  EXPECT_EQ(occurrences(html, "</script>"), occurrences(page_of("x", "{}"), "</script>"));
  EXPECT_EQ(html.find("\xe2\x80\xa8"), html.npos);
  EXPECT_EQ(json::parse(content(html, "data-patterns")), original);
}

TEST(HtmlReport, TheTitleIsText) {
  EXPECT_NE(page_of("<b>&", "{}").find("<title>&lt;b&gt;&amp;</title>"), std::string::npos);
}

TEST(HtmlReport, LoadsNothingFromAnywhere) {
  const std::string html = page_of("x", "{}");
  EXPECT_EQ(html.find(" src="), html.npos);
  EXPECT_NE(html.find("default-src 'none'"), html.npos);
}

TEST(HtmlReport, LargeDocumentsAreCompressed) {
  json large;
  for (int i = 0; i < 300000; ++i) large["numbers"].push_back(i % 1000);
  const std::string text = large.dump();
  ASSERT_GT(text.size(), std::size_t{1} << 20U);
  const std::string html = page_of("x", text);
  EXPECT_NE(html.find("id=\"data-patterns\" data-encoding=\"deflate\""), html.npos);
  EXPECT_LT(content(html, "data-patterns").size(), text.size() / 4);
}

TEST(HtmlReport, ChecksWhatADocumentIs) {
  const auto check = [](std::string_view text) {
    return check_document(text, "nplus1-timeline/1", "t.json");
  };
  EXPECT_TRUE(check(R"({"rows": [{"schema": "x"}], "schema": "nplus1-timeline/1"})").ok());
  EXPECT_FALSE(check(R"({"rows": [{"schema": "nplus1-timeline/1"}]})").ok());
  EXPECT_FALSE(check(R"({"schema": "nplus1-timeline/1", "rows": [)").ok());
  EXPECT_FALSE(check(R"({"schema": "nplus1-patterns/1"})").ok());
  EXPECT_FALSE(check("").ok());
  const auto newer = check(R"({"schema": "nplus1-timeline/2"})");
  ASSERT_FALSE(newer.ok());
  EXPECT_NE(newer.error().what.find("t.json is of schema nplus1-timeline/2, newer"), std::string::npos);
}

TEST(HtmlReport, WithoutAMemberTheRestKeepsItsOrder) {
  EXPECT_EQ(without_member(R"({"b": 1, "point_to_point": {"a": [1, 2]}, "a": {"point_to_point": 3}})",
                           "point_to_point"),
            R"({"b":1,"a":{"point_to_point":3}})");
  EXPECT_EQ(without_member("nonsense", "a"), "nonsense");
}

}  // namespace
}  // namespace nplus1::report::html

#include "overlap/patch/request.hpp"

#include <gtest/gtest.h>

namespace nplus1::overlap::patch {
namespace {

Request everything() {
  Request request;
  request.root = "/src";
  request.compile_commands = "/build";
  request.flags = "-O2 -DN=3";
  request.compiler = "mpicc";
  request.sources = {{"/src/a.c", 12.5, std::nullopt}, {"/src/b.c", std::nullopt, 4'000'000'000U}};
  Chain chain{.id = "2", .calls = {}, .wait = {WaitPlace::kBeforeLine, {"/src/a.c", 90}}, .unit = "/src/a.c"};
  chain.calls.push_back({{"/src/a.c", 72}, "MPI_Sendrecv", CallKind::kSendrecv, true, false, 70, 60});
  chain.calls.push_back({{"/src/a.c", 76}, "MPI_Recv", CallKind::kReceive, false, true, 0, 0});
  request.chains = {chain, Chain{.id = "3", .calls = {}, .wait = {WaitPlace::kEndOfBlock, {}}, .unit = {}}};
  return request;
}

TEST(PatchRequest, ComesBackFromItsJsonAsItWas) {
  const std::string text = to_json(everything());
  const auto back = parse_request(text);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(to_json(back.value()), text);
  const Call& first = back.value().chains[0].calls[0];
  EXPECT_EQ(first.place.line, 72);
  EXPECT_EQ(first.kind, CallKind::kSendrecv);
  EXPECT_TRUE(first.watched);
  EXPECT_EQ(first.post_send_after, 70);
  EXPECT_EQ(first.post_receive_after, 60);
  EXPECT_TRUE(back.value().chains[0].calls[1].any_source);
  EXPECT_EQ(back.value().chains[0].wait.place.line, 90);
  EXPECT_EQ(back.value().chains[1].wait.where, WaitPlace::kEndOfBlock);
  EXPECT_EQ(back.value().sources[1].crc32, 4'000'000'000U);
  EXPECT_EQ(back.value().flags, "-O2 -DN=3");
}

TEST(PatchRequest, WithoutItsOptionalKeysTrustsNothing) {
  const auto request =
      parse_request(R"({"version": 1, "chains": [{"id": "x", "wait": {"where": "after_calls"},
    "calls": [{"file": "a.c", "line": 3, "function": "MPI_Send", "kind": "send"}]}]})");
  ASSERT_TRUE(request.ok());
  EXPECT_FALSE(request.value().chains[0].calls[0].watched);
  EXPECT_FALSE(request.value().flags.has_value());
}

TEST(PatchRequest, ThatIsNoneIsAnErrorThatNamesTheKey) {
  EXPECT_NE(parse_request("{").error().what.find("parse error"), std::string::npos);
  EXPECT_NE(parse_request(R"({"version": 1})").error().what.find("chains"), std::string::npos);
  EXPECT_NE(parse_request(R"({"version": 2, "chains": []})").error().what.find("version is 2"),
            std::string::npos);
  const auto word =
      parse_request(R"({"version": 1, "chains": [{"id": "x", "calls": [], "wait": {"where": "there"}}]})");
  EXPECT_NE(word.error().what.find("\"there\""), std::string::npos);
}

/// Each was another number.
TEST(PatchRequest, WithANumberThatIsNotWholeOrDoesNotFitIsAnErrorThatNamesTheKey) {
  for (const std::string line : {"1e300", "2.5", "4294967297", "-2147483649", "18446744073709551615"}) {
    const auto request =
        parse_request(R"({"version": 1, "chains": [{"id": "x", "wait": {"where": "after_calls"},
      "calls": [{"file": "a.c", "line": )" +
                      line + R"(, "function": "MPI_Send", "kind": "send"}]}]})");
    ASSERT_FALSE(request.ok()) << line;
    EXPECT_NE(request.error().what.find("line is "), std::string::npos) << request.error().what;
  }
  EXPECT_FALSE(parse_request(R"({"version": 4294967297, "chains": []})").ok());
}

TEST(PatchAnswer, ComesBackFromItsJsonAsItWas) {
  Answer answer{.root = "/src", .diff = "--- a/x\n", .chains = {}};
  ChainAnswer patched;
  patched.id = "2";
  patched.diff = "--- a/x\n";
  patched.wait = {"/src/a.c", 80};
  patched.notes = {"moved"};
  ChainAnswer refused;
  refused.id = "3";
  refused.refusal.emplace();
  refused.refusal->place = {"/src/b.f90", 4};
  refused.refusal->code = "fortran";
  refused.refusal->reason = "no diff";
  refused.advice = "by hand";
  answer.chains = {patched, refused};
  const std::string text = to_json(answer);
  const auto back = parse_answer(text);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(to_json(back.value()), text);
  EXPECT_EQ(back.value().chains[0].wait.line, 80);
  EXPECT_FALSE(back.value().chains[0].refusal.has_value());
  EXPECT_EQ(back.value().chains[1].refusal->code, "fortran");
  EXPECT_EQ(back.value().chains[1].advice, "by hand");
}

TEST(PatchAnswer, SurvivesBytesThatAreNoUtf8) {
  Answer answer{.root = "/src", .diff = "--- a/\xff\n", .chains = {}};
  EXPECT_TRUE(parse_answer(to_json(answer)).ok());
}

}  // namespace
}  // namespace nplus1::overlap::patch

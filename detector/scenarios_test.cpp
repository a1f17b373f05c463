// The scenarios, and the table of how many of them come out right.
#include "detector/testing/scenarios.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "detector/findings.hpp"

namespace nplus1::detector {
namespace {

std::vector<Finding> findings_of(const Scenario& scenario) {
  TransferCollector collector{scenario.ranks};
  World world{collector, scenario.ranks};
  scenario.play(world);
  const Transfers transfers = collector.take();
  return find_collectives(transfers, collector);
}

bool at_least(Certainty certainty, const std::string& wanted) {
  if (wanted == "certain") return certainty == Certainty::kCertain;
  return wanted == "possible" || certainty >= Certainty::kProbable;
}

bool fits(const Finding& f, const Expectation& e) {
  return name(f.kind) == e.kind && f.ranks == e.ranks && f.roots == e.roots && f.count == e.count &&
         f.messages == e.messages && at_least(f.certainty, e.certainty) &&
         (e.op.empty() || (f.operation && name(*f.operation) == e.op));
}

struct Score {
  std::size_t right = 0;
  std::size_t missed = 0;
  std::size_t wrong = 0;  // reported above `possible`, but not expected
};

Score score(const Scenario& scenario, const std::vector<Finding>& findings) {
  Score s;
  for (const Expectation& e : scenario.expected) {
    const bool found = std::ranges::any_of(findings, [&](const Finding& f) { return fits(f, e); });
    ++(found ? s.right : s.missed);
  }
  for (const Finding& f : findings) {
    const bool wanted =
        std::ranges::any_of(scenario.expected, [&](const Expectation& e) { return fits(f, e); });
    if (!wanted && f.certainty > Certainty::kPossible) ++s.wrong;
  }
  return s;
}

std::vector<Scenario> all_scenarios() {
  auto all = flat_forms();
  for (Scenario& s : tree_forms()) all.push_back(std::move(s));
  for (Scenario& s : composite_forms()) all.push_back(std::move(s));
  for (Scenario& s : real_programs()) all.push_back(std::move(s));
  for (Scenario& s : overconfident_answers()) all.push_back(std::move(s));
  return all;
}

class Scenarios : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Scenarios, GiveExactlyWhatTheySay) {
  const Scenario scenario = all_scenarios()[GetParam()];
  const auto findings = findings_of(scenario);
  const Score s = score(scenario, findings);
  EXPECT_EQ(s.missed, 0U) << scenario.name << "\n" << collectives_text(findings);
  EXPECT_EQ(s.wrong, 0U) << scenario.name << "\n" << collectives_text(findings);
}

std::string row(const Scenario& scenario, const Score& s) {
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", scenario.name, scenario.ranks,
                     scenario.expected.size(), s.right, s.missed, s.wrong);
}

/// The rows of programs that ran live, between the head of the table and the first one played here: theirs is
/// tests/mpi/collectives_test.py, which compares them with what comes out.
std::string live_rows(const std::string& text, const std::string& head, const std::string& first_played,
                      Score& sum) {
  const auto begin = text.find(head) + head.size();
  std::string rows = text.substr(begin, text.find("| " + first_played + " |") - begin);
  std::istringstream lines{rows};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields{line};
    std::vector<std::string> cells;
    for (std::string cell; std::getline(fields, cell, '|');) cells.push_back(cell);
    sum.right += std::stoul(cells.at(4));
    sum.missed += std::stoul(cells.at(5));
    sum.wrong += std::stoul(cells.at(6));
  }
  return rows;
}

// NPLUS1_UPDATE=1 writes the table again.
TEST(ScenarioTable, IsWhatTheDocumentationSays) {
  const std::string path = NPLUS1_SOURCE_DIR "/docs/detector_scenarios.md";
  const std::string head =
      "| scenario | ranks | expected | right | missed | wrong |\n|---|---|---|---|---|---|\n";
  std::ifstream in{path};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  ASSERT_NE(text.find(head), std::string::npos);
  Score sum;
  std::string expected = text.substr(0, text.find(head)) + head;
  expected += live_rows(text, head, all_scenarios().front().name, sum);
  for (const Scenario& scenario : all_scenarios()) {
    const Score s = score(scenario, findings_of(scenario));
    expected += row(scenario, s);
    sum.right += s.right;
    sum.missed += s.missed;
    sum.wrong += s.wrong;
  }
  const auto share = [](std::size_t part, std::size_t rest) {
    return static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(1, part + rest));
  };
  expected += fmt::format("\n{} right, {} missed, {} wrong: precision {:.2f}, recall {:.2f}.\n", sum.right,
                          sum.missed, sum.wrong, share(sum.right, sum.wrong), share(sum.right, sum.missed));
  if (std::getenv("NPLUS1_UPDATE") != nullptr) {
    std::ofstream{path} << expected;
    return;
  }
  EXPECT_EQ(text, expected) << "NPLUS1_UPDATE=1 build/bin/detector_test writes it again";
}

INSTANTIATE_TEST_SUITE_P(All, Scenarios, ::testing::Range<std::size_t>(0, all_scenarios().size()));

}  // namespace
}  // namespace nplus1::detector

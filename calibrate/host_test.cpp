#include "calibrate/host.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "calibrate/host_measure.hpp"

namespace nplus1::calibrate {
namespace {

Host laptop() {
  return {"laptop",
          "A",
          "2024-01-31",
          2e9,
          1.6e10,
          256,
          {{"L1", 32768, 16384, 1e11, 1.2e-9}, {"memory", 0, 1U << 27U, 1e10, 9e-8}}};
}

/// Twice as fast in all but scalars (the same) and latency of the memory (1.5 times as slow).
Host cluster() {
  return {"cluster",
          "B",
          "2024-02-01",
          2e9,
          3.2e10,
          512,
          {{"L1", 32768, 16384, 2e11, 0.6e-9},
           {"L2", 1U << 20U, 1U << 19U, 1e11, 4e-9},
           {"memory", 0, 1U << 27U, 2e10, 13.5e-8}}};
}

double ratio(const std::string& kind) {
  for (const HostRatio& r : host_ratios(laptop(), cluster()))
    if (r.kind == kind) return r.factor;
  return 0;
}

TEST(Host, ATimeThereIsRateHereByRateThere) {
  EXPECT_DOUBLE_EQ(ratio("scalar"), 1);
  EXPECT_DOUBLE_EQ(ratio("vector"), 0.5);
  EXPECT_DOUBLE_EQ(ratio("L1"), 0.5);
  EXPECT_DOUBLE_EQ(ratio("L1-latency"), 0.5);
  EXPECT_DOUBLE_EQ(ratio("memory"), 0.5);
  EXPECT_DOUBLE_EQ(ratio("memory-latency"), 1.5);
  EXPECT_EQ(ratio("L2"), 0);  // one of them has none
}

TEST(Host, ItsFileGivesItBack) {
  const auto again = parse_host(host_json(cluster()), "f");
  ASSERT_TRUE(again.ok()) << again.error().what;
  EXPECT_EQ(host_json(again.value()), host_json(cluster()));
  EXPECT_EQ(again.value().levels[1].touched, 1U << 19U);
}

TEST(Host, WhatCannotBeAHostIsRefusedByName) {
  const auto refusal = [](const std::string& from, const std::string& to) {
    std::string text = host_json(laptop());
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    text.replace(at, from.size(), to);
    const auto parsed = parse_host(text, "laptop.json");
    if (parsed.ok()) return std::string{"taken"};
    EXPECT_TRUE(parsed.error().what.starts_with("laptop.json: ")) << parsed.error().what;
    EXPECT_FALSE(parsed.error().remedy.empty());
    return parsed.error().what.substr(13);
  };
  EXPECT_EQ(refusal("nplus1-host/1", "nplus1-host/2"), "its schema is 'nplus1-host/2', not nplus1-host/1");
  EXPECT_EQ(refusal("2000000000.0", "0"), "scalar_flops is no number above 0");
  EXPECT_EQ(refusal("2000000000.0", "-1e9"), "scalar_flops is no number above 0");
  EXPECT_EQ(refusal("2000000000.0", "\"fast\""), "scalar_flops is no number above 0");
  EXPECT_EQ(refusal("16000000000.0", "1e999"), "this is no JSON object");
  EXPECT_EQ(refusal("\"L1\"", "7"), "one of its levels has no name");
  EXPECT_EQ(refusal("1.2e-09", "null"), "latency_s is no number above 0");
  EXPECT_EQ(refusal("\"levels\"", "\"floors\""), "levels is no list of 1 to 16 levels");
  for (const char* text : {"", "{", "[]", "7", "null", "\xff\xfe"})
    EXPECT_EQ(parse_host(text, "f").error().what, "f: this is no JSON object") << text;
}

class Files : public testing::Test {
 protected:
  Files() {
    std::string name = testing::TempDir() + "nplus1-host-XXXXXX";
    folder_ = mkdtemp(name.data());
    std::ofstream{folder_ / "a"} << host_json(laptop());
    std::ofstream{folder_ / "b"} << host_json(cluster());
  }
  ~Files() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] Result<HostComparison> compared(const std::string& rest) const {
    return compare_hosts((folder_ / "a").string() + ":" + (folder_ / "b").string() + rest);
  }
  std::filesystem::path folder_;
};

TEST_F(Files, AreComparedByTheKindThatIsNamed) {
  EXPECT_DOUBLE_EQ(compared("").value().factor, 1);
  EXPECT_EQ(compared("").value().kind, "scalar");
  EXPECT_DOUBLE_EQ(compared(":memory").value().factor, 0.5);
  EXPECT_DOUBLE_EQ(compared(":memory-latency").value().factor, 1.5);
  const auto no_kind = compared(":L2");
  ASSERT_FALSE(no_kind.ok());
  EXPECT_NE(no_kind.error().remedy.find("memory-latency"), std::string::npos) << no_kind.error().remedy;
}

TEST_F(Files, ThatAreNotThereOrTooLargeAreRefused) {
  EXPECT_FALSE(compare_hosts("").ok());
  EXPECT_FALSE(compare_hosts("a:").ok());
  EXPECT_FALSE(compare_hosts(":b").ok());
  EXPECT_FALSE(compare_hosts("a::b").ok());
  EXPECT_NE(compare_hosts("/nowhere/a:b").error().what.find("no such file"), std::string::npos);
  EXPECT_NE(read_host(folder_).error().what.find("no such file"), std::string::npos);
  std::ofstream{folder_ / "large"} << std::string((1U << 20U) + 1, ' ');
  EXPECT_NE(read_host(folder_ / "large").error().what.find("larger"), std::string::npos);
}

// What holds on any machine, busy or not: everything is measured, and nothing is out of this world.
TEST(Host, ThisOneIsMeasured) {
  const auto measured = measure_host(1);
  ASSERT_TRUE(measured.ok()) << measured.error().what;
  const Host& host = measured.value();
  EXPECT_GT(host.scalar_flops, 1e7);
  EXPECT_LT(host.scalar_flops, 1e11);
  EXPECT_GE(host.vector_flops, host.scalar_flops / 4);
  ASSERT_FALSE(host.levels.empty());
  EXPECT_EQ(host.levels.back().name, "memory");
  for (const MemoryLevel& level : host.levels) {
    EXPECT_GT(level.bandwidth, 1e7) << level.name;
    EXPECT_LT(level.bandwidth, 1e13) << level.name;
    EXPECT_GT(level.latency_s, 1e-10) << level.name;
    EXPECT_LT(level.latency_s, 1e-4) << level.name;
  }
  EXPECT_TRUE(parse_host(host_json(host), "this one").ok());
}

}  // namespace
}  // namespace nplus1::calibrate

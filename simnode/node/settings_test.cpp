#include "simnode/node/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "netmodel/network_model.hpp"

namespace nplus1::simnode::node {
namespace {

class SettingsTest : public testing::Test {
 protected:
  void set(const char* name, const char* value) {
    setenv(name, value, 1);
    names_.emplace_back(name);
  }
  ~SettingsTest() override {
    for (const std::string& name : names_) unsetenv(name.c_str());
  }

 private:
  std::vector<std::string> names_;
};

TEST_F(SettingsTest, HaveTheDocumentedDefaults) {
  const Settings s = settings_from_environment().value();
  EXPECT_EQ(s.network, netmodel::kDefaultNetwork);
  EXPECT_EQ(s.compute, "measured");
  EXPECT_EQ(s.clock, "auto");
  EXPECT_EQ(s.protocol, "conservative");
  EXPECT_TRUE(s.direct);
  EXPECT_TRUE(s.abort_on_deadlock);
  EXPECT_EQ(s.poll_cost.first(), std::chrono::nanoseconds{200});
  EXPECT_EQ(s.poll_cost.cap(), std::chrono::microseconds{10});
}

TEST_F(SettingsTest, ListenOnTheNetworkOnlyForRanksOfOtherHosts) {
  EXPECT_EQ(settings_from_environment().value().hosts, Door::Hosts::kSeveral) << "not known";
  set("NPLUS1_WORLD", "5");
  set("MPI_LOCALNRANKS", "5");
  EXPECT_EQ(settings_from_environment().value().hosts, Door::Hosts::kThis);
  EXPECT_EQ(settings_from_environment().value().ranks, 4);
  set("NPLUS1_TRANSPORT", "tcp");
  EXPECT_EQ(settings_from_environment().value().hosts, Door::Hosts::kThisOverTcp);
  set("MPI_LOCALNRANKS", "3");
  EXPECT_EQ(settings_from_environment().value().hosts, Door::Hosts::kSeveral);
}

TEST_F(SettingsTest, RecordEverythingUnlessToldOtherwise) {
  const Settings s = settings_from_environment().value();
  EXPECT_EQ(s.record, Record::kFull);
  EXPECT_EQ(s.record_cap, std::uint64_t{4} << 30);
  const transport::Config c = s.config();
  EXPECT_EQ(c.record, 1);
  EXPECT_EQ(c.content_parts, events::payload::Choice::kAll);
  EXPECT_EQ(c.whole_bytes, 64);
  EXPECT_EQ(c.frames, 4);
  EXPECT_EQ(c.pcontrol_ipm, 0);
}

TEST_F(SettingsTest, PassOnToTheRanksWhatARecordingAsksOfThem) {
  set("NPLUS1_HASH", "off");
  set("NPLUS1_FRAMES", "7");
  set("NPLUS1_PCONTROL", "ipm");
  set("NPLUS1_RECORD_REGION", "solve");
  set("NPLUS1_RECORD_CAP", "512M");
  const Settings s = settings_from_environment().value();
  EXPECT_EQ(s.record_cap, std::uint64_t{512} << 20);
  const transport::Config c = s.config();
  EXPECT_EQ(c.content_parts, 0);
  EXPECT_EQ(c.whole_bytes, 0);
  EXPECT_EQ(c.frames, 7);
  EXPECT_EQ(c.pcontrol_ipm, 1);
  EXPECT_EQ(s.record_region, "solve");
}

TEST_F(SettingsTest, ChooseHashesAndWholePayloadsApart) {
  set("NPLUS1_HASH", "crc32");
  set("NPLUS1_INLINE_PAYLOADS", "16");
  const transport::Config c = settings_from_environment().value().config();
  EXPECT_EQ(c.content_parts, events::payload::kPrefix | events::payload::kCrc32);
  EXPECT_EQ(c.whole_bytes, 16);
}

TEST_F(SettingsTest, AskNothingOfTheRanksWithoutARecording) {
  for (const char* record : {"off", "patterns"}) {
    set("NPLUS1_RECORD", record);
    EXPECT_EQ(settings_from_environment().value().config().record, 0) << record;
  }
}

TEST_F(SettingsTest, ReadThePollCostAsTheCommandLineWritesIt) {
  set("NPLUS1_POLL_COST", "1e-6,5e-5");
  EXPECT_EQ(settings_from_environment().value().poll_cost.first(), std::chrono::microseconds{1});
  EXPECT_EQ(settings_from_environment().value().poll_cost.cap(), std::chrono::microseconds{50});
  set("NPLUS1_POLL_COST", "3e-6");
  EXPECT_EQ(settings_from_environment().value().poll_cost.first(), std::chrono::microseconds{3});
  EXPECT_EQ(settings_from_environment().value().poll_cost.cap(), std::chrono::microseconds{3});
}

TEST_F(SettingsTest, AreToldToTheRanks) {
  set("NPLUS1_DIRECT", "off");
  set("NPLUS1_PROTOCOL", "riesen");
  set("NPLUS1_VIRTUAL_CLOCKS", "1");
  const transport::Config config = settings_from_environment().value().config();
  EXPECT_EQ(config.direct, 0);
  EXPECT_EQ(config.riesen, 1);
  EXPECT_EQ(config.virtual_clocks, 1);
  EXPECT_EQ(config.poll_first_ps, 200'000);
}

TEST_F(SettingsTest, TellRanksTheComputeTimesThatWereParsed) {
  set("NPLUS1_COMPUTE", "fixed:5ms");
  const transport::Config fixed = settings_from_environment().value().config();
  EXPECT_EQ(static_cast<semantics::ComputeMode>(fixed.compute_mode), semantics::ComputeMode::kFixed);
  EXPECT_EQ(Duration{fixed.compute_fixed_ps}, std::chrono::milliseconds{5});
  set("NPLUS1_COMPUTE", "scale:2.5");
  EXPECT_EQ(settings_from_environment().value().config().compute_scale, 2.5);
}

TEST_F(SettingsTest, ThatAreNotUnderstoodAreNamed) {
  for (const auto& [name, value] : {std::pair{"NPLUS1_COMPUTE", "fixed:soon"},
                                    {"NPLUS1_COMPUTE", "file:/absent"},
                                    {"NPLUS1_POLL_COST", "much"},
                                    {"NPLUS1_RECORD_CAP", "all"},
                                    {"NPLUS1_HASH", "md5"},
                                    {"NPLUS1_INLINE_PAYLOADS", "65"},
                                    {"NPLUS1_FRAMES", "17"}}) {
    set(name, value);
    const auto settings = settings_from_environment();
    ASSERT_FALSE(settings) << name;
    EXPECT_EQ(settings.error().what.rfind(name, 0), 0U) << settings.error().what;
    unsetenv(name);
  }
}

}  // namespace
}  // namespace nplus1::simnode::node

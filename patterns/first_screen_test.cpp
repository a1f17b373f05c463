#include "patterns/first_screen.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "patterns/testing/streams.hpp"
#include "report/page.hpp"

namespace nplus1::patterns {
namespace {

/// A ring with an Allreduce; rank r computes longer the greater r is.
Patterns ring(std::int32_t ranks) {
  MessageStatistics statistics{static_cast<std::size_t>(ranks)};
  for (std::int32_t r = 0; r < ranks; ++r) {
    Event send = send_event((r + 1) % ranks, 1 << 20);
    send.site = CallSiteId{1};
    send.compute_ps = send.entry_ps = 1'000'000'000 + std::int64_t{1'000'000} * r;
    feed(statistics, r, send, send.entry_ps);
    Event reduce = collective_event(CollectiveKind::kAllreduce, -1, 8);
    reduce.entry_ps = send.entry_ps;
    reduce.site = CallSiteId{2};
    feed(statistics, r, reduce, 3'000'000'000);
    feed(statistics, r, call(EventKind::kFinalize, 3'000'000'000), 3'000'000'000);
  }
  statistics.on_call_path({CallSiteId{1}, {{"/bin/ring", "", 77, "exchange", "/src/ring.c", 12}}});
  Patterns patterns = statistics.patterns();
  patterns.application = "ring";
  return patterns;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(FirstScreen, HasAccessesToFilesWhoseNamesNobodyFollowed) {
  Patterns patterns = ring(2);
  IoUse use;
  use.rank.resize(2);
  use.rank[0].reads = 3;
  use.rank[0].bytes_read = 2048;
  use.rank[1].writes = 5;
  use.rank[1].bytes_written = 1024;
  use.rank[1].time = Duration{2'000'000'000};
  patterns.io = use;
  const auto lines = lines_of(first_screen(patterns, {}));
  const auto head = std::find_if(lines.begin(), lines.end(),
                                 [](const std::string& line) { return line.starts_with("Files (MPI-IO)"); });
  ASSERT_NE(head, lines.end());
  std::istringstream row{*(head + 1)};
  const std::vector<std::string> words{std::istream_iterator<std::string>{row}, {}};
  EXPECT_EQ(words,
            (std::vector<std::string>{"all", "files", "2", "KiB", "3", "1", "KiB", "5", "2", "ms", "-"}));
}

TEST(FirstScreen, IsBoundedAndNarrowWhateverTheNumberOfRanks) {
  for (const std::int32_t ranks : {1, 4, 64, 1024, 5000}) {
    ScreenOptions options;
    options.heatmap = true;
    const auto text = first_screen(ring(ranks), options);
    if (std::getenv("NPLUS1_SHOW") != nullptr) std::puts(text.c_str());
    const auto lines = lines_of(text);
    EXPECT_LE(lines.size(), 130U) << ranks;
    for (const std::string& line : lines) EXPECT_LE(report::display_width(line), 100U) << line;
  }
}

TEST(FirstScreen, SaysWhereTheTimeGoes) {
  const std::string text = first_screen(ring(4), {});
  for (const char* expected :
       {"ring on 4 ranks: 3 ms of virtual time", "exchange (ring.c:12)",
        "Per rank: 1 point-to-point messages, 1 collective calls", "Partners of a rank: 2"})
    EXPECT_NE(text.find(expected), std::string::npos) << text;
}

TEST(FirstScreen, NamesAnIncompleteRunAndSurvivesAnEmptyOne) {
  EXPECT_NE(first_screen(MessageStatistics{2}.patterns(), {}).find("INCOMPLETE"), std::string::npos);
  EXPECT_FALSE(first_screen(Patterns{}, {}).empty());
}

TEST(FirstScreen, HasMessagesWhoseSizesNobodyCounted) {
  Patterns patterns = ring(2);
  for (Layer& layer : patterns.layers) layer.sizes = {};
  const auto lines = lines_of(first_screen(patterns, {}));
  const auto head = std::find_if(lines.begin(), lines.end(),
                                 [](const std::string& line) { return line.starts_with("Sizes in bytes"); });
  ASSERT_NE(head, lines.end());
  EXPECT_EQ(*(head + 1), "  not known");
}

TEST(FirstScreen, WithoutUnicodeItIsAscii) {
  ScreenOptions options;
  options.heatmap = true;
  options.style.unicode = false;
  const std::string text = first_screen(ring(4), options);
  EXPECT_TRUE(
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; }));
}

TEST(FirstScreen, PlacesAreAsPreciseAsWhatIsKnown) {
  CallSiteUse site;
  EXPECT_EQ(place_of(site), "unknown");
  site.frames.push_back({"", "", 0, "/usr/bin/app", 0x1a2b});
  EXPECT_EQ(place_of(site), "app+0x1a2b");
  site.frames[0].function = "solve";
  EXPECT_EQ(place_of(site), "solve (app+0x1a2b)");
  site.frames[0].file = "/home/me/solver.f90";
  site.frames[0].line = 7;
  EXPECT_EQ(place_of(site), "solve (solver.f90:7)");
}

}  // namespace
}  // namespace nplus1::patterns

#include "guidelines/journal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace nplus1::guidelines {
namespace {

namespace fs = std::filesystem;

class JournalFile : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }

  std::string text() const {
    std::ifstream in{path_};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  void write(const std::string& text) const { std::ofstream{path_} << text; }

  fs::path path_ = fs::temp_directory_path() / ("nplus1-journal-" + std::to_string(getpid()));
};

TEST_F(JournalFile, GrowsByPieces) {
  auto journal = Journal::open(path_, "head\n");
  ASSERT_TRUE(journal);
  ASSERT_TRUE(journal.value().append("1\n2\n", "0 Scan 8"));
  EXPECT_TRUE(journal.value().has("0 Scan 8"));
  EXPECT_EQ(text(), "head\n1\n2\n# done 0 Scan 8\n");
}

TEST_F(JournalFile, KilledAnywhereKeepsExactlyItsWholePieces) {
  const std::string head = "head\n", first = "1\n# done a\n", second = "2\n3\n# done b\n",
                    all = head + first + second;
  for (std::size_t length = 0; length <= all.size(); ++length) {
    write(all.substr(0, length));
    auto journal = Journal::open(path_, head);
    ASSERT_TRUE(journal) << length;
    EXPECT_EQ(journal.value().has("a"), length >= head.size() + first.size()) << length;
    EXPECT_EQ(journal.value().has("b"), length == all.size()) << length;
    EXPECT_EQ(text(), journal.value().has("b")   ? all
                      : journal.value().has("a") ? head + first
                                                 : head)
        << length;
  }
}

TEST_F(JournalFile, OfAnotherMeasurementIsLeftAlone) {
  for (const std::string other : {"other\n1\n# done a\n", "oth"}) {
    write(other);
    const auto journal = Journal::open(path_, "head\n");
    ASSERT_FALSE(journal);
    EXPECT_NE(journal.error().what.find("other settings"), std::string::npos);
    EXPECT_EQ(text(), other);
  }
}

TEST_F(JournalFile, TellsWhatIsBehindABeginning) {
  auto journal = Journal::open(path_, "head\n");
  ASSERT_TRUE(journal);
  EXPECT_EQ(journal.value().behind("failed: "), "");
  ASSERT_TRUE(journal.value().append("", "failed: it hung"));
  ASSERT_TRUE(journal.value().append("", "fails"));
  EXPECT_EQ(journal.value().behind("failed: "), "it hung");
  EXPECT_EQ(Journal::open(path_, "head\n").value().behind("failed: "), "it hung");
}

TEST_F(JournalFile, OnAFullDiskIsAnErrorThatSaysSo) {
  auto journal = Journal::open(path_, "head\n");
  ASSERT_TRUE(journal);
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/dev/full", path_);
  const auto appended = journal.value().append("1\n", "a");
  ASSERT_FALSE(appended);
  EXPECT_NE(appended.error().remedy.find("free some space"), std::string::npos);
  EXPECT_FALSE(journal.value().has("a"));
}

TEST_F(JournalFile, ThatIsNoFileIsAnError) {
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/dev/zero", path_);
  EXPECT_FALSE(Journal::open(path_, "head\n"));
}

TEST_F(JournalFile, InAMissingFolderIsAnError) {
  EXPECT_FALSE(Journal::open("/nonexistent/file.csv", "head\n"));
}

}  // namespace
}  // namespace nplus1::guidelines

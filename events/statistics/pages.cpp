#include "events/statistics/pages.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <system_error>
#include <thread>

#include "support/processes/child.hpp"

namespace nplus1::events::statistics {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kMostMembers = 1 << 22;

std::int64_t tick_now() {
#if defined(__x86_64__)
  return static_cast<std::int64_t>(__rdtsc());
#else
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
#endif
}

Error broken(const fs::path& file, const std::string& what) {
  return {file.string() + ": " + what, "it is damaged, or no file of statistics; give another"};
}

template <class Entry>
bool take(const char* data, std::uint64_t bytes, const Table& table, std::vector<Entry>& entries) {
  if (table.entries == 0) return true;
  if (table.entry_bytes != sizeof(Entry) || table.offset > bytes) return false;
  if (std::uint64_t{table.entries} * sizeof(Entry) > bytes - table.offset) return false;
  entries.resize(table.entries);
  std::memcpy(entries.data(), data + table.offset, entries.size() * sizeof(Entry));
  return true;
}

bool read_at(int descriptor, std::uint64_t offset, void* to, std::size_t bytes) {
  return ::pread(descriptor, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

/// A thread of a job that runs changes its state while it is read: it is read until it holds still, for some 10 ms, in which
/// one that lost its core amidst a change gets it again. One read says nothing about its order, so the number before and
/// after is read apart. Nothing: it did not hold still.
std::optional<ThreadState> read_while_still(int page, std::uint64_t offset) {
  for (int tries = 0; tries < 100; ++tries) {
    std::uint32_t before = 0, after = 0;
    ThreadState state;
    if (!read_at(page, offset, &before, sizeof before) || !read_at(page, offset, &state, sizeof state) ||
        !read_at(page, offset, &after, sizeof after))
      return {};
    if (before % 2 == 0 && before == after) return state;
    if (tries > 10) std::this_thread::sleep_for(std::chrono::microseconds{100});
  }
  return {};
}

template <class Entry>
void drop_empty(std::vector<Entry>& entries, std::uint64_t Entry::*key) {
  std::erase_if(entries, [key](const Entry& e) { return e.*key == 0 || e.*key == ~std::uint64_t{0}; });
}

void terminate(char* text, std::size_t size) {
  text[size - 1] = 0;
}

/// `live`: the descriptor of a page that its rank may change; -1: nobody does.
Result<RankPage> parse(const fs::path& file, const char* data, std::uint64_t bytes, int live = -1) {
  RankPage page;
  if (bytes < sizeof(Header)) return broken(file, "it ends within a rank's header");
  std::memcpy(&page.header, data, sizeof(Header));
  Header& h = page.header;
  if (std::memcmp(h.magic, kMagic, sizeof kMagic) != 0)
    return broken(file, "no page of statistics begins here");
  if (h.version != kVersion)
    return Error{file.string() + " is of version " + std::to_string(h.version) + " of the format",
                 "read it with the nplus1 that wrote it, or a newer one"};
  if (h.page_bytes < sizeof(Header) || h.page_bytes > bytes) return broken(file, "a rank's page is cut off");
  if (h.ranks < 1 || h.ranks > (1 << 24) || h.rank < 0 || h.rank >= h.ranks || !(h.ns_per_tick > 0) ||
      h.ns_per_tick > 1e6)
    return broken(file, "a rank's header is not sound");
  terminate(h.host, sizeof h.host);
  terminate(h.program, sizeof h.program);
  terminate(h.job, sizeof h.job);
  const auto table = [&](TableKind kind) -> const Table& { return h.tables[static_cast<std::size_t>(kind)]; };
  const std::uint64_t size = h.page_bytes;
  std::vector<Path> paths;
  std::vector<char> text;
  const bool sound = take(data, size, table(TableKind::kThreads), page.threads) &&
                     take(data, size, table(TableKind::kSites), page.sites) &&
                     take(data, size, table(TableKind::kPeers), page.peers) &&
                     take(data, size, table(TableKind::kSizes), page.sizes) &&
                     take(data, size, table(TableKind::kCollectives), page.collectives) &&
                     take(data, size, table(TableKind::kCommunicators), page.communicators) &&
                     take(data, size, table(TableKind::kLive), page.live) &&
                     take(data, size, table(TableKind::kMembers), page.ranges) &&
                     take(data, size, table(TableKind::kPaths), paths) &&
                     take(data, size, table(TableKind::kText), text);
  if (!sound) return broken(file, "a table of rank " + std::to_string(h.rank) + " reaches beyond its page");
  const std::uint64_t threads_at = table(TableKind::kThreads).offset;
  for (std::size_t i = 0; live >= 0 && i < page.threads.size(); ++i)
    if (page.threads[i].used != 0)
      page.threads[i] = read_while_still(live, threads_at + i * sizeof(ThreadState)).value_or(ThreadState{});
  std::erase_if(page.threads, [](const ThreadState& t) { return t.used == 0; });
  drop_empty(page.sites, &Site::key);
  drop_empty(page.peers, &Peer::key);
  drop_empty(page.sizes, &Size::layer);
  drop_empty(page.collectives, &Collective::key);
  drop_empty(page.communicators, &Communicator::key);
  drop_empty(page.live, &Live::key);
  paths.resize(std::min<std::size_t>(paths.size(), h.paths));
  for (const Path& p : paths) {
    if (p.offset > text.size() || p.bytes > text.size() - p.offset)
      return broken(file, "a call path of rank " + std::to_string(h.rank) + " is not sound");
    page.paths.emplace_back(text.data() + p.offset, p.bytes);
  }
  return page;
}

Result<processes::Descriptor> open_regular(const fs::path& file) {
  // Not blocking: a pipe in the place of a file must not hang us.
  processes::Descriptor descriptor{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  const bool opened = descriptor.get() >= 0;
  if (opened && ::fstat(descriptor.get(), &status) == 0 && S_ISREG(status.st_mode)) return descriptor;
  const std::string why = opened ? "it is no regular file" : std::generic_category().message(errno);
  return Error{file.string() + " cannot be read: " + why, "check its name and permissions"};
}

/// Whole: a page that its rank has mapped is read as a file is. At once: a job has thousands of 2 MB.
Result<std::string> content(const fs::path& file, int descriptor) {
  struct stat status {};
  const bool sized = ::fstat(descriptor, &status) == 0;
  std::string data(sized ? static_cast<std::size_t>(status.st_size) : 0, '\0');
  std::size_t taken = 0;
  ssize_t got = 0;
  do {
    got = ::read(descriptor, data.data() + taken, data.size() - taken);
    if (got > 0) taken += static_cast<std::size_t>(got);
  } while (taken < data.size() && (got > 0 || (got < 0 && errno == EINTR)));
  if (got < 0) return Error{file.string() + " cannot be read", "check the disk"};
  data.resize(taken);
  return data;
}

bool is_number(const std::string& name) {
  return !name.empty() && name.size() < 9 &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<std::vector<RankPage>> read_folder(const fs::path& folder) {
  std::vector<RankPage> pages;
  std::error_code error;
  for (fs::directory_iterator at{folder, error}, end; !error && at != end; at.increment(error)) {
    if (!is_number(at->path().filename().string())) continue;
    const auto opened = open_regular(at->path());
    if (!opened) return opened.error();
    const auto data = content(at->path(), opened.value().get());
    if (!data) return data.error();
    if (data.value().compare(0, sizeof kMagic, std::string(sizeof kMagic, '\0')) == 0)
      continue;  // it is being made
    const std::int64_t now = tick_now();
    auto page = parse(at->path(), data.value().data(), data.value().size(), opened.value().get());
    if (!page) return page.error();
    pages.push_back(std::move(page).value());
    pages.back().now_tick = now;
  }
  if (error) return Error{folder.string() + " cannot be read: " + error.message(), "check its permissions"};
  return pages;
}

Result<std::vector<RankPage>> read_file(const fs::path& file) {
  std::vector<RankPage> pages;
  const auto opened = open_regular(file);
  if (!opened) return opened.error();
  const auto data = content(file, opened.value().get());
  if (!data) return data.error();
  for (std::uint64_t at = 0; at < data.value().size();) {
    auto page = parse(file, data.value().data() + at, data.value().size() - at);
    if (!page) return page.error();
    at += page.value().header.page_bytes;
    pages.push_back(std::move(page).value());
  }
  return pages;
}

}  // namespace

std::vector<std::int32_t> RankPage::members(std::uint32_t index, std::uint32_t count) const {
  std::vector<std::int32_t> all;
  if (index == 0 || index - 1 > ranges.size() || count > ranges.size() - (index - 1)) return all;
  for (std::uint32_t i = index - 1; i < index - 1 + count; ++i) {
    if (static_cast<std::int64_t>(all.size()) + ranges[i].count > kMostMembers) return {};
    for (std::uint32_t k = 0; k < ranges[i].count; ++k)
      all.push_back(static_cast<std::int32_t>(ranges[i].first + std::int64_t{ranges[i].stride} * k));
  }
  return all;
}

Result<std::vector<RankPage>> read_pages(const fs::path& path) {
  std::error_code error;
  auto pages = fs::is_directory(path, error) ? read_folder(path) : read_file(path);
  if (!pages) return pages;
  std::vector<RankPage> all = std::move(pages).value();
  if (all.empty())
    return Error{path.string() + " has no statistics of any rank", "give the folder or file of a job"};
  std::sort(all.begin(), all.end(),
            [](const RankPage& a, const RankPage& b) { return a.header.rank < b.header.rank; });
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].header.ranks != all[0].header.ranks)
      return broken(path, "its ranks are of jobs of different sizes");
    if (i > 0 && all[i].header.rank == all[i - 1].header.rank)
      return broken(path, "rank " + std::to_string(all[i].header.rank) + " is there twice");
  }
  return all;
}

bool is_statistics(const fs::path& path) {
  std::error_code error;
  fs::path file = path;
  if (fs::is_directory(path, error)) {
    file.clear();
    for (fs::directory_iterator at{path, error}, end; !error && at != end; at.increment(error))
      if (is_number(at->path().filename().string()) && at->is_regular_file(error)) file = at->path();
  }
  if (!fs::is_regular_file(file, error)) return false;
  char magic[sizeof kMagic] = {};
  std::ifstream in{file, std::ios::binary};
  return in.read(magic, sizeof magic) && std::memcmp(magic, kMagic, sizeof magic) == 0;
}

}  // namespace nplus1::events::statistics

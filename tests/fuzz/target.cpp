#include "tests/fuzz/target.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <random>

namespace nplus1::fuzz {
namespace {

constexpr std::size_t kLongest = 1U << 16U;

constexpr std::array<std::int64_t, 16> kExtremes{
    -1,
    0,
    -2,
    -3,
    std::numeric_limits<std::int64_t>::max(),
    std::numeric_limits<std::int64_t>::min(),
    std::numeric_limits<std::int32_t>::max(),
    std::numeric_limits<std::int32_t>::min(),
    std::numeric_limits<std::uint32_t>::max(),
    std::int64_t{1} << 62U,
    std::int64_t{1} << 47U,
    std::int64_t{1} << 40U,
    std::int64_t{1} << 31U,
    1 << 24U,
    1 << 20U,
    65536,
};

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) {
  return limit == 0 ? 0 : random() % limit;
}

/// A random piece, from any place to any later one.
std::string_view piece_of(std::string_view from, std::size_t longest, Random& random) {
  const std::size_t at = below(random, from.size());
  return from.substr(at, 1 + below(random, longest));
}

bool is_word(char c) {
  return c != ' ' && c != '\n' && c != ',' && c != '=' && c != '"' && c != ':';
}

/// Where a random word begins and how long it is.
std::pair<std::size_t, std::size_t> word_of(std::string_view text, Random& random) {
  std::size_t at = below(random, text.size());
  while (at > 0 && is_word(text[at - 1])) --at;
  while (at < text.size() && !is_word(text[at])) ++at;
  std::size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return {at, end - at};
}

std::pair<std::size_t, std::size_t> line_of(std::string_view text, Random& random) {
  const std::size_t at = below(random, text.size());
  const std::size_t before = text.rfind('\n', at == 0 ? 0 : at - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t end = text.find('\n', begin);
  return {begin, (end == std::string_view::npos ? text.size() : end + 1) - begin};
}

void change_text(std::string& text, std::string_view partner, Random& random) {
  const auto [word, length] = word_of(text, random);
  const auto [line, line_length] = line_of(text, random);
  switch (random() % 7) {
    case 0:
      text.replace(word, length, std::to_string(kExtremes[random() % kExtremes.size()]));
      return;
    case 1: {
      const auto [other, other_length] = word_of(partner, random);
      text.replace(word, length, partner.substr(other, other_length));
      return;
    }
    case 2:
      text.erase(line, line_length);
      return;
    case 3: {
      const auto [other, other_length] = line_of(partner, random);
      text.insert(line, std::string{partner.substr(other, other_length)});
      return;
    }
    case 4:
      text.erase(word, length);
      return;
    case 5:
      text.replace(word, length, std::to_string(random() % 40));
      return;
    default:
      if (!text.empty()) text[below(random, text.size())] = static_cast<char>(random());
  }
}

void change_bytes(std::string& bytes, std::string_view partner, Random& random) {
  const std::size_t at = below(random, bytes.size());
  switch (random() % 5) {
    case 0:
      bytes.insert(at, std::string{piece_of(partner, 64, random)});
      return;
    case 1:
      bytes.erase(at, 1 + below(random, 16));
      return;
    case 2: {
      const std::int64_t extreme = kExtremes[random() % kExtremes.size()];
      for (std::size_t i = 0; i < 1 + random() % 8 && at + i < bytes.size(); ++i)
        bytes[at + i] = static_cast<char>(extreme >> (8 * (i % 8)));
      return;
    }
    default:
      if (!bytes.empty()) bytes[at] = static_cast<char>(random() % 4 == 0 ? random() : random() % 32);
  }
}

}  // namespace

__attribute__((weak)) std::optional<std::string> mutated_by_structure(Input /*input*/,
                                                                      std::uint64_t /*seed*/) {
  return {};
}

std::string mutated(std::string_view input, std::string_view partner, bool text, std::uint64_t seed) {
  Random random{seed};
  if (random() % 2 == 0) {
    const Input bytes{reinterpret_cast<const std::uint8_t*>(input.data()), input.size()};
    if (auto changed = mutated_by_structure(bytes, random()); changed && changed->size() <= kLongest)
      return *std::move(changed);
  }
  std::string result{input};
  for (std::uint64_t changes = 1 + random() % 6; changes > 0; --changes) {
    if (text && random() % 8 != 0)
      change_text(result, partner, random);
    else
      change_bytes(result, partner, random);
  }
  if (result.size() > kLongest) result.resize(kLongest);
  return result;
}

namespace {

void limit_processor_time(unsigned seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

/// Set by a child that has had too much processor time: its end alone might be taken for what a reader's child ends by.
volatile bool* shared_verdict() {
  static void* const page =
      ::mmap(nullptr, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) std::abort();
  return static_cast<volatile bool*>(page);
}

volatile bool* too_long = nullptr;
pid_t fuzzer = 0;

void end_of_time(int /*signal*/) {
  if (::getpid() == fuzzer) std::abort();
  *too_long = true;
  ::_exit(1);
}

void watch_time() {
  too_long = shared_verdict();
  fuzzer = ::getpid();
  std::signal(SIGPROF, end_of_time);
  ::pthread_atfork(nullptr, nullptr,
                   [] { limit_processor_time(kSecondsEach); });  // children do not inherit the timer
}

}  // namespace

bool run_in_time(Input input) {
  static const bool watched = (watch_time(), true);
  static_cast<void>(watched);
  limit_processor_time(kSecondsEach);
  const bool whole = run(input);
  limit_processor_time(0);
  if (*too_long) std::abort();
  return whole;
}

MemoryFile::MemoryFile(std::string_view bytes) : descriptor_{::memfd_create("fuzz", MFD_CLOEXEC)} {
  if (::write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  ::lseek(descriptor_, 0, SEEK_SET);
}

MemoryFile::~MemoryFile() {
  ::close(descriptor_);
}

std::filesystem::path MemoryFile::path() const {
  return "/proc/self/fd/" + std::to_string(descriptor_);
}

std::uint8_t Choices::byte() {
  if (left_.empty()) return 0;
  const std::uint8_t first = left_.front();
  left_ = left_.subspan(1);
  return first;
}

std::uint64_t Choices::number(int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8U | byte();
  return value;
}

std::int64_t Choices::value(std::int64_t usual) {
  const std::uint8_t how = byte();
  if (how == 255) return kExtremes[byte() % kExtremes.size()];
  if (how == 254) return static_cast<std::int64_t>(number(8));
  if (usual <= 0) return 0;
  return static_cast<std::int64_t>((std::uint64_t{how} << 8U | byte()) % static_cast<std::uint64_t>(usual));
}

}  // namespace nplus1::fuzz

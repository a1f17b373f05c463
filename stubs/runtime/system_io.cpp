#include "stubs/runtime/system_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace nplus1::stubs {
namespace {

constexpr const char* kNames[] = {"rchar:", "wchar:", "syscr:", "syscw:"};  // by SystemIo::Number

/// The file's text; bytes read, 0 if it cannot be.
std::size_t read_file(char* text, std::size_t room) {
  const int file = ::open("/proc/self/io", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = ::read(file, text, room - 1);
  ::close(file);
  const std::size_t there = length > 0 ? static_cast<std::size_t>(length) : 0;
  text[there] = '\0';
  return there;
}

std::uint64_t less(std::uint64_t all, std::uint64_t part) {
  return all - std::min(all, part);
}

}  // namespace

/// The kernel counts a read when it is over: this one is among the next look's.
SystemIo::Numbers SystemIo::look() {
  char text[512];
  const std::size_t length = read_file(text, sizeof(text));
  Numbers numbers{};
  for (std::size_t i = 0; i < kNumbers; ++i) {
    const char* at = std::strstr(text, kNames[i]);
    if (length == 0 || at == nullptr) return {};
    numbers[i] = std::strtoull(at + std::strlen(kNames[i]), nullptr, 10);
  }
  numbers[kBytesRead] = less(numbers[kBytesRead], looked_bytes_);
  numbers[kReads] = less(numbers[kReads], looks_);
  looked_bytes_ += length;
  ++looks_;
  return numbers;
}

void SystemIo::begin(const Numbers& own) {
  own_ = own;
  left_out_ = look();
  counts_ = looks_ > 0;
}

void SystemIo::leave_out_until(const Numbers& after) {
  for (std::size_t i = 0; i < kNumbers; ++i) left_out_[i] += less(after[i], before_[i]);
}

bool SystemIo::read(Numbers& numbers, const Numbers& own) {
  if (!counts_) return false;
  numbers = look();
  for (std::size_t i = 0; i < kNumbers; ++i)
    numbers[i] = less(numbers[i], left_out_[i] + less(own[i], own_[i]));
  return true;
}

}  // namespace nplus1::stubs

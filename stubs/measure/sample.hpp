// Numbers of one kind, of which count, mean and spread are kept (Welford). One thread at a time; no failure.
#pragma once

#include <cstdint>

namespace nplus1::stubs::measure {

class Sample {
 public:
  void add(double x) {
    const double from_mean = x - mean_;
    mean_ += from_mean / static_cast<double>(++count_);
    squares_ += from_mean * (x - mean_);
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double mean() const { return mean_; }
  /// The sum of the squared distances from the mean.
  [[nodiscard]] double squares() const { return squares_; }

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

}  // namespace nplus1::stubs::measure

#include "guidelines/pacing.hpp"

#include <algorithm>

namespace nplus1::guidelines {

double Pacing::share() const {
  return std::max(0.0, left_) / std::max(1, mpiruns_);
}

void Pacing::took(double seconds, double part) {
  left_ -= seconds;
  --mpiruns_;
  if (seconds <= 0 || part <= 0) return;
  scale_ = std::min(1.0, scale_ * share() * part / seconds);
}

int Pacing::repetitions(int wanted, int least) const {
  return std::max(std::min(wanted, least), static_cast<int>(scale_ * wanted));
}

}  // namespace nplus1::guidelines

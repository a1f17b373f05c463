#include "simnode/node/test_delay.hpp"

#include <cstdlib>
#include <thread>

namespace nplus1::simnode::node {

TestDelay::TestDelay(const std::string& text) {
  constexpr const char* kRandom = "random:";
  random_ = text.rfind(kRandom, 0) == 0;
  if (!random_) {
    longest_ = std::atof(text.c_str());
    return;
  }
  char* rest = nullptr;
  generator_.seed(std::strtoull(text.c_str() + std::char_traits<char>::length(kRandom), &rest, 10));
  longest_ = *rest == ':' ? std::atof(rest + 1) : 0.0;
}

std::chrono::duration<double> TestDelay::next() {
  if (!random_ || longest_ <= 0) return std::chrono::duration<double>{longest_ > 0 ? longest_ : 0.0};
  return std::chrono::duration<double>{std::uniform_real_distribution{0.0, longest_}(generator_)};
}

void TestDelay::pause() {
  const auto length = next();
  if (length.count() > 0) std::this_thread::sleep_for(length);
}

}  // namespace nplus1::simnode::node

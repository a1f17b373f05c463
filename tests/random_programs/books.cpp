#include "tests/random_programs/books.hpp"

namespace random_programs {

void Books::add(const Books& other) {
  for (const auto& [name, count] : other.calls_) calls_[name] += count;
  for (const auto& [key, count] : other.collectives_) collectives_[key] += count;
  for (const auto& [key, count] : other.communicator_calls_) communicator_calls_[key] += count;
  for (const auto& [destination, sums] : other.messages_) {
    messages_[destination].first += sums.first;
    messages_[destination].second += sums.second;
  }
  for (const auto& [key, sums] : other.layers_) {
    layers_[key].first += sums.first;
    layers_[key].second += sums.second;
  }
}

void Books::write(std::FILE* file, int rank) const {
  for (const auto& [name, count] : calls_) std::fprintf(file, "call %s %ld\n", name.c_str(), count);
  for (const auto& [destination, sums] : messages_)
    std::fprintf(file, "message %d %d %ld %ld\n", rank, destination, sums.first, sums.second);
  for (const auto& [key, count] : collectives_)
    std::fprintf(file, "collective %s %d %d %d %ld\n", std::get<0>(key).c_str(), std::get<1>(key),
                 std::get<2>(key), rank, count);
  for (const auto& [key, count] : communicator_calls_)
    std::fprintf(file, "communicator %s %d %d %d %ld\n", std::get<0>(key).c_str(), std::get<1>(key),
                 std::get<2>(key), rank, count);
  for (const auto& [key, sums] : layers_)
    std::fprintf(file, "layer %s %d %d %ld %ld\n", std::get<0>(key).c_str(), std::get<1>(key),
                 std::get<2>(key), sums.first, sums.second);
}

}  // namespace random_programs

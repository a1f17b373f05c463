#include "tests/fuzz/claimed_recording.hpp"

#include <random>
#include <utility>

#include "events/recording/writer.hpp"
#include "tests/fuzz/events_of.hpp"

namespace nplus1::fuzz {

void write_claims(const std::filesystem::path& recording, Choices& choices, std::int32_t ranks, int most,
                  Accesses accesses) {
  events::recording::WriterOptions options;
  options.background = false;
  auto writer = std::move(events::recording::Writer::create(recording, {ranks, {}}, options)).value();
  EventsOf events{choices, ranks, *writer};
  if (accesses == Accesses::kSome) events.with_accesses();
  events.all(most);
  static_cast<void>(writer->close());
}

std::vector<std::string> seeds_of_claims(std::size_t length) {
  std::vector<std::string> all;
  for (unsigned seed = 0; seed < 64; ++seed) {
    std::mt19937 random{seed};
    std::string bytes(length, '\0');
    for (char& b : bytes) b = static_cast<char>(random() % (seed % 2 == 0 ? 250 : 256));
    bytes[0] = static_cast<char>(seed);
    all.push_back(std::move(bytes));
  }
  return all;
}

}  // namespace nplus1::fuzz

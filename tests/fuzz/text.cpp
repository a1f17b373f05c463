// Any bytes as CSV and as JSON lines of events.
#include "events/text/text.hpp"

#include <unistd.h>

#include <random>

#include "events/checked_sink.hpp"
#include "events/definitions_collector.hpp"
#include "tests/fuzz/events_of.hpp"

namespace nplus1::fuzz {
namespace {

using events::text::Syntax;

std::string printed(Syntax syntax, unsigned seed) {
  const MemoryFile file{""};
  {
    const auto rows =  // which closes what it is given
        events::text::print_to(::dup(file.descriptor()), syntax, {4, {{"application", "a \"b\", c"}}});
    std::mt19937 random{seed};
    std::string bytes(400, '\0');
    for (char& b : bytes) b = static_cast<char>(random() % 250);
    Choices choices{{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}};
    events::CheckedSink checked{4, 1000, *rows};  // what a reader takes
    EventsOf{choices, 4, checked}.all(60);
  }
  std::string text(1U << 16U, '\0');
  const ssize_t length = ::pread(file.descriptor(), text.data(), text.size(), 0);
  text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return text;
}

}  // namespace

bool run(Input input) {
  bool whole = false;
  for (const Syntax syntax : {Syntax::kCsv, Syntax::kJsonLines}) {
    const MemoryFile file{as_text(input)};
    auto importer = events::text::open(file.path(), syntax);
    if (!importer) continue;
    events::DefinitionsCollector sink;
    whole |= importer.value()->read(sink).ok();
  }
  return whole;
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (unsigned seed = 0; seed < 8; ++seed)
    all.push_back(printed(seed % 2 == 0 ? Syntax::kCsv : Syntax::kJsonLines, seed));
  return all;
}

bool is_text() {
  return true;
}

}  // namespace nplus1::fuzz

// What all exchange formats share (docs/formats/exchange.md): an Exporter is a sink that writes a file, an
// Importer a file that feeds a sink. Either is used from one thread.
//
// Bad input is an Error that names the file, the place in it and what to do. An importer may have fed part of
// the stream before it finds the damage: whoever converts throws the output away then. An exporter writes
// under a temporary name and takes the real one in close(), never over something that exists; without close()
// it leaves nothing behind.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "events/sink.hpp"
#include "support/result.hpp"

namespace nplus1::events::exchange {

/// What is known of a run before its first event.
struct Preamble {
  std::int32_t ranks = 0;
  std::map<std::string, std::string> properties;
};

/// The most ranks that an importer believes a file to have.
inline constexpr std::int32_t kMaxRanks = 1 << 24;

struct Imported {
  std::uint64_t events = 0;
  std::uint64_t matches = 0;
  std::vector<std::string> missing;  // what the format has no field for, as sentences: analyses print them
};

class Importer {
 public:
  virtual ~Importer() = default;
  [[nodiscard]] virtual const Preamble& preamble() const = 0;
  /// Feeds `sink` with everything. Once only.
  virtual Result<Imported> read(EventSink& sink) = 0;
};

struct Exported {
  std::uint64_t events = 0;
  std::vector<std::string> lost;  // what this stream had and the format could not hold, as sentences
};

class Exporter : public EventSink {
 public:
  /// The file gets its name. After it, nothing else may be called.
  virtual Result<Exported> close() = 0;
};

}  // namespace nplus1::events::exchange

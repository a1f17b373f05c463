// An analysis that runs with every run and every replay into a folder: it sees each event with its virtual times, in the
// simulator's order, on one thread, and leaves a document, NAME.json, which report.html has too.
//
// To add one: a file beside this one and a line in analysers.cpp; or, in a program of one's own that links nplus1's
// libraries, add_analyser() before main() goes on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "events/sink.hpp"

namespace nplus1::patterns {

class Analyser : public events::EventSink {
 public:
  /// Of its document: letters, digits and hyphens.
  [[nodiscard]] virtual std::string name() const = 0;
  /// JSON, once the run is over; empty: nothing is to be told.
  [[nodiscard]] virtual std::string document() = 0;
};

using MakeAnalyser = std::function<std::unique_ptr<Analyser>(std::size_t ranks)>;

[[nodiscard]] const std::vector<MakeAnalyser>& analysers();
/// True, so that it can stand in an initialiser.
bool add_analyser(MakeAnalyser make);

}  // namespace nplus1::patterns

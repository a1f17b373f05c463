// How often each MPI function was called: calls.json.
#include <map>
#include <memory>
#include <string>

#include "events/mpi_call.hpp"
#include "patterns/analyser.hpp"
#include "report/json_object.hpp"

namespace {

class CallsAnalyser final : public nplus1::patterns::Analyser {
 public:
  std::string name() const override { return "calls"; }
  void on_event(const nplus1::events::TimedEvent& event) override {
    ++calls_[std::string{nplus1::events::name(static_cast<nplus1::events::MpiCall>(event.event.call))}];
  }
  std::string document() override {
    nplus1::report::JsonObject object;
    object.text("schema", "example-calls/1");
    for (const auto& [call, count] : calls_) object.number(call, count);
    return object.document();
  }

 private:
  std::map<std::string, std::uint64_t> calls_;
};

[[maybe_unused]] const bool added =
    nplus1::patterns::add_analyser([](std::size_t) { return std::make_unique<CallsAnalyser>(); });

}  // namespace

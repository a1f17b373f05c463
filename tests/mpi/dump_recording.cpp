// dump_recording FOLDER: a recording as JSON lines, for the Python tests of this folder. A line for each
// definition, event and match, in recorded order, then one with the coverage. Exit code 1 with the reader's
// message if there is nothing to read.
#include <fmt/core.h>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "events/mpi_call.hpp"
#include "events/recording/reader.hpp"

namespace {

using namespace nplus1;
using nlohmann::json;

class Dump final : public events::EventSink {
 public:
  void on_event(const events::TimedEvent& t) override {
    const events::Event& e = t.event;
    json line{{"row", "event"},
              {"rank", t.rank.value},
              {"ordinal", t.ordinal},
              {"thread", e.thread.value},
              {"kind", static_cast<int>(e.kind)},
              {"call", events::name(static_cast<events::MpiCall>(e.call))},
              {"operation", e.operation},
              {"comm", e.comm.value},
              {"request", e.request.value},
              {"site", e.site.value},
              {"peer", e.peer},
              {"tag", e.tag},
              {"size", e.size},
              {"aux", e.aux},
              {"entry_ps", e.entry_ps},
              {"words", std::vector<std::uint32_t>(t.extension.words.begin(), t.extension.words.end())},
              {"sizes", std::vector<std::int64_t>(t.extension.sizes.begin(), t.extension.sizes.end())},
              {"finished", t.exit != events::kUnfinished},
              {"exit_ps", t.exit.time_since_epoch().count()},
              {"sequence", t.answer.sequence}};
    if (t.detail != nullptr) line["detail"] = detail(*t.detail);
    std::cout << line << '\n';
  }
  void on_match(RankId receiver, const events::Answer& m) override {
    std::cout << json{{"row", "match"},     {"rank", receiver.value}, {"request", m.request.value},
                      {"source", m.source}, {"tag", m.tag},           {"sequence", m.sequence},
                      {"size", m.size}}
              << '\n';
  }
  void on_communicator(const events::Communicator& c) override {
    json members = json::array();
    for (const RankId r : c.members) members.push_back(r.value);
    std::cout << json{{"row", "communicator"}, {"id", c.id.value}, {"members", members}} << '\n';
  }
  void on_call_path(const events::CallPath& p) override {
    json frames = json::array();
    for (const events::Frame& f : p.frames)
      frames.push_back({{"module", f.module},
                        {"build_id", f.build_id},
                        {"offset", f.offset},
                        {"function", f.function},
                        {"file", f.file},
                        {"line", f.line}});
    std::cout << json{{"row", "path"}, {"id", p.id.value}, {"frames", frames}} << '\n';
  }
  void on_region(const events::Region& r) override {
    std::cout << json{{"row", "region"}, {"id", r.id.value}, {"name", r.name}} << '\n';
  }
  void on_datatype(const events::Datatype& d) override {
    std::cout << json{{"row", "datatype"}, {"id", d.id.value}, {"name", d.name}, {"bytes", d.bytes}} << '\n';
  }

 private:
  static json detail(const events::Detail& d) {
    return {{"wall_entry_ns", d.wall_entry_ns},
            {"wall_before_ns", d.wall_before_ns},
            {"buffer", d.buffer},
            {"count", d.count},
            {"prefix", d.prefix},
            {"crc", d.crc},
            {"polynomial", d.polynomial},
            {"excerpt", d.excerpt},
            {"datatype", d.datatype.value},
            {"content", d.content}};
  }
};

int fail(const Error& error) {
  std::cerr << error.what << '\n' << error.remedy << '\n';
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return fail({"no recording named", "dump_recording FOLDER"});
  auto reader = events::recording::Reader::open(argv[1]);
  if (!reader) return fail(reader.error());
  Dump dump;
  auto coverage = reader.value().read(dump);
  if (!coverage) return fail(coverage.error());
  const auto& c = coverage.value();
  std::cout << json{{"row", "coverage"},       {"complete", c.complete},
                    {"closed", c.closed},      {"events", c.events},
                    {"matches", c.matches},    {"stopped", c.stopped},
                    {"lost", c.lost_rows},     {"dropped", c.written.dropped_events},
                    {"error", c.writer_error}, {"text", c.text()}}
            << '\n';
  return 0;
}

// A line for each call, "RANK FUNCTION": files that end with .names, which are only written.
#include <fstream>
#include <memory>
#include <string>

#include "analyses/exchange_formats.hpp"
#include "events/mpi_call.hpp"

namespace {

using nplus1::events::exchange::Exported;
using nplus1::events::exchange::Exporter;

class NamesExporter final : public Exporter {
 public:
  explicit NamesExporter(const std::filesystem::path& path) : out_{path}, path_{path} {}
  void on_event(const nplus1::events::TimedEvent& event) override {
    out_ << event.rank.value << ' '
         << nplus1::events::name(static_cast<nplus1::events::MpiCall>(event.event.call)) << '\n';
    ++events_;
  }
  nplus1::Result<Exported> close() override {
    out_.close();
    if (!out_) return nplus1::Error{path_.string() + " cannot be written", "choose another place"};
    return Exported{events_, {"times, messages and communicators"}};
  }

 private:
  std::ofstream out_;
  std::filesystem::path path_;
  std::uint64_t events_ = 0;
};

nplus1::analyses::Format names_format() {
  nplus1::analyses::Format format{"names", ".names", {}, {}};
  format.create = [](const std::filesystem::path& path, const nplus1::events::exchange::Preamble&,
                     const nplus1::analyses::ExchangeOptions&) {
    return nplus1::Result<std::unique_ptr<Exporter>>{std::make_unique<NamesExporter>(path)};
  };
  return format;
}

[[maybe_unused]] const bool added = nplus1::analyses::add_format(names_format());

}  // namespace

#include "events/text/text.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include "events/checked_sink.hpp"
#include "events/exchange/new_file.hpp"
#include "events/text/syntax.hpp"

namespace nplus1::events::text {
namespace {

namespace fs = std::filesystem;
using exchange::Exported;
using exchange::Exporter;
using exchange::Imported;
using exchange::Importer;
using exchange::NewFile;
using exchange::Preamble;

constexpr const char* kSeeDocs =
    "docs/formats/exchange.md lists the columns; convert the recording again if it was cut";

/// Hands rows on as text; a base for whoever puts them somewhere.
template <class Base>
class RowWriter : public Base {
 public:
  explicit RowWriter(Syntax syntax) : syntax_{syntax} {}
  void on_event(const TimedEvent& event) override {
    ++events_;
    write_event(event, row_);
    emit();
  }
  void on_match(RankId receiver, const Answer& match) override { put(write_match, receiver, match); }
  void on_communicator(const Communicator& communicator) override { put(write_communicator, communicator); }
  void on_call_path(const CallPath& path) override { put(write_call_path, path); }
  void on_region(const Region& region) override { put(write_region, region); }
  void on_datatype(const Datatype& datatype) override { put(write_datatype, datatype); }

 protected:
  void begin(const Preamble& preamble) {
    print(heading(syntax_));
    put(write_run, preamble.ranks);
    for (const auto& [key, value] : preamble.properties) put(write_property, key, value);
  }
  virtual void print(std::string_view text) = 0;
  std::uint64_t events_ = 0;

 private:
  void put(auto write, const auto&... what) {
    write(what..., row_);
    emit();
  }
  void emit() {
    line_.clear();
    append_row(row_, syntax_, line_);
    print(line_);
  }
  Syntax syntax_;
  Row row_;
  std::string line_;
};

class FileWriter final : public RowWriter<Exporter> {
 public:
  FileWriter(NewFile file, Syntax syntax, const Preamble& preamble)
      : RowWriter{syntax}, file_{std::move(file)} {
    begin(preamble);
  }
  Result<Exported> close() override {
    if (const auto done = file_.commit(); !done) return done.error();
    return Exported{events_, {}};
  }

 private:
  void print(std::string_view text) override { file_.write(text); }
  NewFile file_;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

class PipeWriter final : public RowWriter<EventSink> {
 public:
  PipeWriter(File file, Syntax syntax, const Preamble& preamble) : RowWriter{syntax}, file_{std::move(file)} {
    begin(preamble);
  }

 private:
  void print(std::string_view text) override { std::fwrite(text.data(), 1, text.size(), file_.get()); }
  File file_;
};

class TextImporter final : public Importer {
 public:
  TextImporter(File file, std::string name, Syntax syntax, bool unchecked)
      : file_{std::move(file)},
        name_{std::move(name)},
        rows_{read_rows(file_.get(), syntax)},
        unchecked_{unchecked} {}

  /// `run` and `property` rows, up to the first other one, which stays in row_.
  Result<exchange::Done> read_preamble() {
    while ((has_row_ = rows_->next(row_)) && is_preamble(row_)) {
      if (const auto wrong = text::read_preamble(row_, preamble_)) return error(*wrong);
    }
    if (rows_->trouble()) return error(*rows_->trouble());
    if (preamble_.ranks == 0) return error("no record \"run\" at the beginning");
    if (preamble_.ranks > most_ranks(bytes())) return error("more ranks than the file has room for");
    return exchange::Done{};
  }

  const Preamble& preamble() const override { return preamble_; }

  Result<Imported> read(EventSink& sink) override {
    CheckedSink checked{preamble_.ranks, bytes(), sink};
    for (; has_row_; has_row_ = rows_->next(row_)) {
      auto wrong = unchecked_ ? read_row(row_, sink) : read_row(row_, checked);
      if (!wrong) wrong = checked.trouble();
      if (wrong) return error(*wrong);
    }
    if (rows_->trouble()) return error(*rows_->trouble());
    return Imported{checked.events(), checked.matches(), {}};
  }

 private:
  /// Of the whole file; 0 of what has no size.
  std::uint64_t bytes() const {
    struct stat status {};
    return ::fstat(::fileno(file_.get()), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
  }
  Error error(const std::string& what) const {
    return {name_ + ":" + std::to_string(rows_->line()) + ": " + what, kSeeDocs};
  }

  File file_;
  std::string name_;
  std::unique_ptr<RowReader> rows_;
  bool unchecked_;
  Row row_;
  bool has_row_ = false;
  Preamble preamble_;
};

Result<std::unique_ptr<Importer>> import_from(File file, const std::string& name, Syntax syntax,
                                              bool unchecked = false) {
  auto importer = std::make_unique<TextImporter>(std::move(file), name, syntax, unchecked);
  if (const auto begun = importer->read_preamble(); !begun) return begun.error();
  return std::unique_ptr<Importer>{std::move(importer)};
}

}  // namespace

Result<std::unique_ptr<Exporter>> create(const fs::path& file, Syntax syntax, const Preamble& preamble) {
  auto opened = NewFile::create(file);
  if (!opened) return opened.error();
  return std::unique_ptr<Exporter>{std::make_unique<FileWriter>(std::move(opened).value(), syntax, preamble)};
}

Result<std::unique_ptr<Importer>> open(const fs::path& path, Syntax syntax, bool unchecked) {
  if (fs::is_directory(path))
    return Error{path.string() + " is a folder, not a file", "name the file itself"};
  File file{std::fopen(path.c_str(), "re")};
  if (file == nullptr)
    return Error{path.string() + ": " + std::strerror(errno), "name a file that can be read"};
  return import_from(std::move(file), path.string(), syntax, unchecked);
}

Result<std::unique_ptr<Importer>> open(int descriptor, const std::string& name, Syntax syntax) {
  return import_from(File{fdopen(descriptor, "r")}, name, syntax);
}

std::unique_ptr<EventSink> print_to(int descriptor, Syntax syntax, const Preamble& preamble) {
  return std::make_unique<PipeWriter>(File{fdopen(descriptor, "w")}, syntax, preamble);
}

}  // namespace nplus1::events::text

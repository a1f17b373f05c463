#include "events/recording/reader.hpp"

#include <fmt/format.h>

#include <utility>

#include "events/checked_sink.hpp"
#include "events/recording/block_decoder.hpp"
#include "events/recording/definitions_codec.hpp"
#include "events/recording/input_file.hpp"
#include "events/recording/kept_events.hpp"

namespace nplus1::events::recording {

class ReaderCore {
 public:
  explicit ReaderCore(InputFile input) : file{std::move(input)} { header.ranks = file.ranks(); }

  /// The properties' last values. Damage is left for read() to report.
  void read_properties() {
    for (file.rewind(); const std::optional<BlockHeader> block = file.next();)
      if (block->type == BlockType::kDefinitions) definitions(nullptr, &header.properties);
  }

  bool keep(std::uint64_t most_rows) {
    auto events = std::make_unique<KeptEvents>(most_rows);
    Coverage coverage = read(*events, {});
    if (!coverage.complete || !events->all()) return false;
    kept_ = std::move(events);
    kept_coverage_ = std::move(coverage);
    return true;
  }

  Coverage read(EventSink& wanted, const Selection& selection) {
    if (!kept_ || !selects_ranks(selection) || selection.unchecked ||
        (selection.most_rows > 0 && selection.most_rows < kept_coverage_.events + kept_coverage_.matches))
      return read_file(wanted, selection);
    kept_->play(wanted, selection.events);
    Coverage coverage = kept_coverage_;
    if (!selection.events) coverage.events = coverage.matches = 0;
    return coverage;
  }

  InputFile file;
  Header header;

 private:
  Coverage read_file(EventSink& wanted, const Selection& selection) {
    CheckedSink checked{header.ranks, file.bytes(), wanted, selects_all(selection)};
    Coverage coverage;
    BlockDecoder decoder{header.ranks};
    std::uint64_t rows = 0;  // in all sound blocks
    for (file.rewind(); const std::optional<BlockHeader> block = file.next();) {
      if (coverage.closed) {
        file.reject("there is more behind the closing block");
        break;
      }
      const bool beyond = selection.most_rows > 0 && rows - coverage.left_out >= selection.most_rows;
      if (beyond && block->type == BlockType::kEvents)
        coverage.left_out += block->rows;
      else if (selection.unchecked)
        play(*block, wanted, selection, decoder, coverage);
      else
        play(*block, checked, selection, decoder, coverage);
      if (checked.trouble() && file.damage().empty()) file.reject(*checked.trouble());
      if (file.damage().empty()) rows += block->rows;
    }
    if (coverage.closed && file.damage().empty()) check_totals(rows, coverage);
    coverage.events = selection.unchecked ? decoder.events : checked.events();
    coverage.matches = selection.unchecked ? decoder.matches : checked.matches();
    coverage.stopped = file.damage();
    if (!coverage.stopped.empty()) coverage.lost_rows = file.rows_behind_damage();
    coverage.complete = coverage.closed && coverage.stopped.empty();
    return coverage;
  }

  [[nodiscard]] bool selects_ranks(const Selection& selection) const {
    return selection.first_rank.value <= 0 && selection.last_rank.value >= header.ranks - 1;
  }
  [[nodiscard]] bool selects_all(const Selection& selection) const {
    return selection.most_rows == 0 && selects_ranks(selection);
  }

  template <class Sink>
  void play(const BlockHeader& block, Sink& sink, const Selection& selection, BlockDecoder& decoder,
            Coverage& coverage) {
    if (block.type == BlockType::kDefinitions) {
      definitions(&sink, nullptr);
    } else if (block.type == BlockType::kClosing) {
      closing(coverage);
    } else if (block.type == BlockType::kEvents && selection.events) {
      const std::optional<ByteSpan> payload = file.payload();
      if (!payload) return;
      if (const auto wrong = decoder.play(*payload, block.rows, selection, sink)) file.reject(*wrong);
    }
  }

  void definitions(EventSink* sink, Properties* properties) {
    const std::optional<ByteSpan> payload = file.payload();
    if (!payload) return;
    if (const auto wrong = play_definitions(*payload, header.ranks, unpacker_, sink, properties))
      file.reject(*wrong);
  }

  void closing(Coverage& coverage) {
    const std::optional<ByteSpan> payload = file.payload();
    if (!payload) return;
    std::optional<Closing> closing = parse_closing(*payload);
    if (!closing) {
      file.reject("the closing block is malformed");
      return;
    }
    coverage.closed = true;
    coverage.written = closing->totals;
    coverage.writer_error = std::move(closing->error);
  }

  void check_totals(std::uint64_t rows, const Coverage& coverage) {
    const std::uint64_t promised = coverage.written.events + coverage.written.matches;
    if (rows != promised)
      file.reject(
          fmt::format("{} events and matches were there, the closing block counts {}", rows, promised));
  }

  ColumnUnpacker unpacker_;
  std::unique_ptr<const KeptEvents> kept_;
  Coverage kept_coverage_;
};

namespace {

std::filesystem::path file_of(const std::filesystem::path& path) {
  std::error_code failed;
  if (!std::filesystem::is_directory(path, failed)) return path;
  const std::filesystem::path inside = path / "recording" / kFileName;
  return std::filesystem::exists(inside, failed) ? inside : path / kFileName;
}

}  // namespace

std::string Coverage::text() const {
  std::string text;
  const auto add = [&text](const std::string& note) { text += (text.empty() ? "" : "; ") + note; };
  if (!stopped.empty())
    add(fmt::format("incomplete: {}; {} later events and matches are lost", stopped,
                    lost_rows == 0 ? "no known" : std::to_string(lost_rows)));
  else if (!closed)
    add("incomplete: the recording was not closed, and its last half second may be missing");
  if (written.dropped_events + written.dropped_matches != 0)
    add(fmt::format("incomplete: {} events and {} matches were not recorded ({})", written.dropped_events,
                    written.dropped_matches, writer_error.empty() ? "size cap" : writer_error));
  return text.empty() ? "complete" : text;
}

Result<Reader> Reader::open(const std::filesystem::path& path) {
  Result<InputFile> file = InputFile::open(file_of(path));
  if (!file) return file.error();
  if (const std::int64_t most = most_ranks(file.value().bytes()); file.value().ranks() > most)
    return Error{fmt::format("{} says it has {} ranks, but its {} bytes hold {} at most",
                             file.value().path().string(), file.value().ranks(), file.value().bytes(), most),
                 "record the run again"};
  auto core = std::make_unique<ReaderCore>(std::move(file).value());
  core->read_properties();
  return Reader{std::move(core)};
}

Reader::Reader(std::unique_ptr<ReaderCore> core) : core_{std::move(core)} {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

const Header& Reader::header() const {
  return core_->header;
}

const std::filesystem::path& Reader::file() const {
  return core_->file.path();
}

std::uint64_t Reader::bytes() const {
  return core_->file.bytes();
}

bool Reader::keep(std::uint64_t most_rows) {
  return core_->keep(most_rows);
}

Result<Coverage> Reader::read(EventSink& sink, const Selection& selection) {
  return core_->read(sink, selection);
}

}  // namespace nplus1::events::recording

#include "events/recording/kept_events.hpp"

#include <span>

namespace nplus1::events::recording {

/// How far each list has been played.
struct KeptEvents::Cursor {
  std::size_t event = 0, answer = 0, receiver = 0, detail = 0, word = 0, size = 0, completed = 0;
  std::size_t communicator = 0, path = 0, region = 0, datatype = 0;
};

namespace {

template <class T>
std::uint32_t append(std::span<const T> list, std::vector<T>& to) {
  to.insert(to.end(), list.begin(), list.end());
  return static_cast<std::uint32_t>(list.size());
}

/// The next `count` of `list`.
template <class T>
std::span<const T> take(const std::vector<T>& list, std::size_t& at, std::size_t count) {
  at += count;
  return std::span{list}.subspan(at - count, count);
}

}  // namespace

/// What was kept goes when there is too much.
bool KeptEvents::has_room() {
  if (++rows_ <= most_rows_) return true;
  if (rows_ == most_rows_ + 1) {
    const std::uint64_t rows = rows_;
    *this = KeptEvents{most_rows_};
    rows_ = rows;
  }
  return false;
}

void KeptEvents::on_event(const TimedEvent& event) {
  if (!has_room()) return;
  order_.push_back(What::kEvent);
  events_.push_back(event.event);
  const bool has_answer = &event.answer != &kNoAnswer;
  parts_.push_back({event.rank, append(event.extension.words, words_), append(event.extension.sizes, sizes_),
                    append(event.completed, completed_), event.exit, event.ordinal, has_answer,
                    event.detail != nullptr});
  if (has_answer) answers_.push_back(event.answer);
  if (event.detail != nullptr) details_.push_back(*event.detail);
}

void KeptEvents::on_match(RankId receiver, const Answer& match) {
  if (!has_room()) return;
  order_.push_back(What::kMatch);
  receivers_.push_back(receiver);
  answers_.push_back(match);
}

void KeptEvents::on_communicator(const Communicator& communicator) {
  if (!all()) return;
  order_.push_back(What::kCommunicator);
  communicators_.push_back(communicator);
}

void KeptEvents::on_call_path(const CallPath& path) {
  if (!all()) return;
  order_.push_back(What::kCallPath);
  paths_.push_back(path);
}

void KeptEvents::on_region(const Region& region) {
  if (!all()) return;
  order_.push_back(What::kRegion);
  regions_.push_back(region);
}

void KeptEvents::on_datatype(const Datatype& datatype) {
  if (!all()) return;
  order_.push_back(What::kDatatype);
  datatypes_.push_back(datatype);
}

void KeptEvents::play_event(Cursor& at, EventSink& sink) const {
  const Event& event = events_[at.event];
  const Parts& parts = parts_[at.event++];
  sink.on_event({parts.rank,
                 event,
                 {take(words_, at.word, parts.words), take(sizes_, at.size, parts.sizes)},
                 parts.exit,
                 parts.has_answer ? answers_[at.answer++] : kNoAnswer,
                 take(completed_, at.completed, parts.completed),
                 parts.has_detail ? &details_[at.detail++] : nullptr,
                 parts.ordinal});
}

void KeptEvents::play(EventSink& sink, bool events) const {
  Cursor at;
  for (const What what : order_) {
    switch (what) {
      case What::kEvent:
        if (events) play_event(at, sink);
        break;
      case What::kMatch:
        if (events) sink.on_match(receivers_[at.receiver++], answers_[at.answer++]);
        break;
      case What::kCommunicator:
        sink.on_communicator(communicators_[at.communicator++]);
        break;
      case What::kCallPath:
        sink.on_call_path(paths_[at.path++]);
        break;
      case What::kRegion:
        sink.on_region(regions_[at.region++]);
        break;
      case What::kDatatype:
        sink.on_datatype(datatypes_[at.datatype++]);
        break;
    }
  }
}

}  // namespace nplus1::events::recording

// Random but valid input for tests of the recording: events of every kind with every field in use, and what
// reading them back must give. Not part of the product.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "events/sink.hpp"

namespace nplus1::events::recording {

/// One call to a sink, by value; comparable byte for byte.
struct Heard {
  std::string text;  // the call's name, and all bytes that it was given
  friend bool operator==(const Heard&, const Heard&) = default;
};

/// Keeps all that a sink is told, in order. Definitions apart, because a writer may move them forward.
class Listening : public EventSink {
 public:
  void on_event(const TimedEvent& e) override {
    std::string text = "event";
    add(text, e.rank.value);
    add(text, e.event);
    add_list(text, e.extension.words);
    add_list(text, e.extension.sizes);
    add(text, e.exit.time_since_epoch().count());
    add(text, e.answer);
    add_list(text, e.completed);
    add(text, e.detail != nullptr);
    if (e.detail != nullptr) add(text, *e.detail);
    add(text, e.ordinal);
    rows.push_back({std::move(text)});
  }
  void on_match(RankId receiver, const Answer& match) override {
    std::string text = "match";
    add(text, receiver.value);
    add(text, match);
    rows.push_back({std::move(text)});
  }
  void on_communicator(const Communicator& c) override {
    std::string text = "communicator";
    add(text, c.id.value);
    add(text, c.first_group);
    for (const RankId member : c.members) add(text, member.value);
    definitions.push_back({std::move(text)});
  }
  void on_call_path(const CallPath& p) override {
    std::string text = "call path";
    add(text, p.id.value);
    for (const Frame& f : p.frames) {
      text += f.module + '|' + f.build_id + '|' + f.function + '|' + f.file + '|';
      add(text, f.offset);
      add(text, f.line);
    }
    definitions.push_back({std::move(text)});
  }
  void on_region(const Region& r) override {
    std::string text = "region" + r.name;
    add(text, r.id.value);
    definitions.push_back({std::move(text)});
  }
  void on_datatype(const Datatype& d) override {
    std::string text = "datatype" + d.name;
    add(text, d.id.value);
    add(text, d.bytes);
    definitions.push_back({std::move(text)});
  }

  std::vector<Heard> rows;
  std::vector<Heard> definitions;

 private:
  template <class T>
  static void add(std::string& text, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  static void add_list(std::string& text, std::span<const T> values) {
    add(text, values.size());
    for (const T& value : values) add(text, value);
  }
};

/// Tells sinks random rows. The same seed gives the same rows.
class Sampler {
 public:
  Sampler(std::uint32_t seed, std::int32_t ranks) : random_{seed}, ranks_{ranks} {}

  /// The same event to each of `sinks`.
  void event(const std::vector<EventSink*>& sinks) {
    fill(&event_, sizeof event_);
    fill(&answer_, sizeof answer_);
    fill(&detail_, sizeof detail_);
    if (!detail_.has_excerpt()) detail_.excerpt = {};
    event_.kind = static_cast<EventKind>(below(24));
    event_.thread = ThreadId{static_cast<std::uint16_t>(below(4) == 0 ? below(3) : 0)};
    event_.peer = static_cast<std::int32_t>(below(static_cast<std::uint32_t>(ranks_) + 3)) - 3;
    words_.resize(below(4) == 0 ? below(9) : 0);
    sizes_.resize(below(4) == 0 ? below(9) : 0);
    completed_.resize(below(4) == 0 ? below(9) : 0);
    fill(words_.data(), words_.size() * sizeof words_[0]);
    fill(sizes_.data(), sizes_.size() * sizeof sizes_[0]);
    fill(completed_.data(), completed_.size() * sizeof completed_[0]);
    std::int64_t exit = 0;
    fill(&exit, sizeof exit);
    std::uint64_t ordinal = 0;
    fill(&ordinal, sizeof ordinal);
    const bool has_detail = below(2) == 0;
    const bool has_answer = below(4) != 0;
    const TimedEvent timed{rank(),
                           event_,
                           {words_, sizes_},
                           below(8) == 0 ? kUnfinished : Time{Duration{exit}},
                           has_answer ? answer_ : kNoAnswer,
                           completed_,
                           has_detail ? &detail_ : nullptr,
                           ordinal};
    for (EventSink* sink : sinks) sink->on_event(timed);
  }

  void match(const std::vector<EventSink*>& sinks) {
    fill(&answer_, sizeof answer_);
    answer_.thread = ThreadId{static_cast<std::uint16_t>(below(2))};
    answer_.source = rank().value;
    const RankId receiver = rank();
    for (EventSink* sink : sinks) sink->on_match(receiver, answer_);
  }

  void rows(int count, const std::vector<EventSink*>& sinks) {
    for (int i = 0; i < count; ++i) {
      if (below(4) == 0)
        match(sinks);
      else
        event(sinks);
    }
  }

  [[nodiscard]] RankId rank() {
    return RankId{static_cast<std::int32_t>(below(static_cast<std::uint32_t>(ranks_)))};
  }
  [[nodiscard]] std::uint32_t below(std::uint32_t limit) {
    return static_cast<std::uint32_t>(random_() % limit);
  }

 private:
  /// Random bytes, with many zeros among them, as real fields have.
  void fill(void* to, std::size_t size) {
    auto* bytes = static_cast<unsigned char*>(to);
    for (std::size_t at = 0; at < size; at += 8) {
      const std::uint32_t taste = below(4);
      for (std::size_t i = at; i < std::min(at + 8, size); ++i)
        bytes[i] = static_cast<unsigned char>(taste == 0 ? below(256) : taste == 1 ? below(3) : 0);
    }
  }

  std::mt19937 random_;
  std::int32_t ranks_;
  Event event_;
  Answer answer_;
  Detail detail_;
  std::vector<std::uint32_t> words_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::uint32_t> completed_;
};

}  // namespace nplus1::events::recording

#include "events/recording/block_encoder.hpp"

#include <cstring>
#include <stdexcept>

#include "events/recording/format.hpp"

namespace nplus1::events::recording {
namespace {

constexpr std::size_t kListEntries = 1U << 18U;  // after which a block is handed on

/// The Coder that writes: an entry for each value that is not as predicted, without a branch.
struct FieldWriter {
  std::array<std::uint64_t*, kColumns>& end;
  std::uint64_t mask = 0;

  template <class T>
  void code(Column column, const T& value, std::uint64_t prediction) {
    const std::uint64_t entry = as_bits(value) - prediction;
    const std::uint64_t is_news = entry != 0 ? 1 : 0;
    std::uint64_t* const at = end[column];
    *at = entry;
    end[column] = at + is_news;
    mask |= is_news << (column - kFirstField);
  }
  static bool chooses(Column /*column*/, bool wish) { return wish; }
  static constexpr bool kReads = false;
};

struct EncodedRow {
  const Event& event;
  const Answer& answer;
  const Detail& detail;
  const std::uint64_t detail_reserved;
  const std::int64_t exit;
  const std::uint64_t ordinal;
  const std::uint32_t words;
  const std::uint32_t sizes;
  const std::uint32_t completed;
};

constexpr Detail kNoDetail{};

bool is_blank(const Answer& answer) {
  return std::memcmp(&answer, &kNoAnswer, sizeof answer) == 0;
}

std::uint64_t reserved_of(const Detail& detail) {
  std::uint64_t value = 0;
  std::memcpy(&value, detail.reserved, sizeof detail.reserved);
  return value;
}

unsigned parts_of(const TimedEvent& event, const Detail& detail) {
  unsigned parts = event.detail != nullptr ? unsigned{kWithDetail} : 0U;
  if (detail.buffer != 0) parts |= kWithBuffer;
  if ((detail.wall_entry_ns | detail.wall_before_ns) != 0) parts |= kWithWall;
  if (!is_blank(event.answer)) parts |= kWithAnswer;
  if (!event.extension.words.empty()) parts |= kWithWords;
  if (!event.extension.sizes.empty()) parts |= kWithSizes;
  if (!event.completed.empty()) parts |= kWithCompleted;
  return parts;
}

std::uint64_t call_of(const Event& event, const Answer& answer) {
  return static_cast<std::uint64_t>(event.kind) | as_bits(event.flags) << 8U |
         as_bits(event.operation) << 16U | as_bits(event.reserved) << 24U | as_bits(event.call) << 32U |
         static_cast<std::uint64_t>(answer.kind) << 48U | as_bits(answer.flag) << 56U;
}

Template template_of(const Event& event, const Answer& answer, const Detail& detail, unsigned parts) {
  return {call_of(event, answer), event.comm.value | as_bits(event.site.value) << 32U,
          detail.datatype.value | as_bits(detail.content) << 32U | as_bits(parts) << 40U};
}

std::uint64_t hash_of(const Template& t) {
  return NumberTable::mix(NumberTable::mix(NumberTable::mix(0, t.call), t.place), t.detail);
}

}  // namespace

Block::Block() : fields_{std::make_unique_for_overwrite<std::uint64_t[]>(kFields * kRoom)} {
  clear();
}

void Block::clear() {
  events = matches = 0;
  for (std::vector<std::uint64_t>& column : grown) column.clear();
  for (std::size_t c = kFirstField; c < kEndOfFields; ++c) end[c] = start_of(c);
}

std::span<std::uint64_t> Block::entries(Column column) {
  if (column < kFirstField || column >= kEndOfFields) return grown[column];
  return {start_of(column), end[column]};
}

BlockEncoder::BlockEncoder(std::int32_t ranks)
    : longest_list_{max_list_entries(ranks) - kListEntries},
      first_threads_(static_cast<std::size_t>(ranks)) {}

void BlockEncoder::start(Block& block) {
  block_ = &block;
  if (++number_ == 0) {  // after 2^32 blocks the stamps start anew
    first_threads_.assign(first_threads_.size(), {});
    number_ = 1;
  }
  other_threads_.clear();
  lanes_.clear();
  runs_.clear();
  run_lane_ = kNobody;
  order_.clear();
  templates_.clear();
  template_table_.clear();
  shapes_.clear();
  shape_table_.clear();
}

bool BlockEncoder::full() const {
  const auto& lists = block_->grown;
  return block_->rows() == Block::kRows || lists[kWords].size() >= kListEntries ||
         lists[kSizes].size() >= kListEntries || lists[kCompleted].size() >= kListEntries;
}

void BlockEncoder::add(const TimedEvent& event) {
  const std::uint32_t number = enter_lane(event.rank, event.event.thread);
  LaneState& lane = lanes_[number];
  const std::uint32_t guess = order_.predicted(number);
  const Detail& detail = event.detail != nullptr ? *event.detail : kNoDetail;
  const unsigned parts = parts_of(event, detail);
  const std::uint32_t of = template_number(template_of(event.event, event.answer, detail, parts), guess);
  const EncodedRow row{event.event,
                       event.answer,
                       detail,
                       reserved_of(detail),
                       event.exit.time_since_epoch().count(),
                       event.ordinal,
                       static_cast<std::uint32_t>(event.extension.words.size()),
                       static_cast<std::uint32_t>(event.extension.sizes.size()),
                       static_cast<std::uint32_t>(event.completed.size())};
  FieldWriter writer{block_->end};
  code_event(writer, row, parts, event.rank.value, lane, templates_[of].same);
  if ((parts & (kWithWords | kWithSizes | kWithCompleted)) != 0) add_lists(event, lane);
  settle(number, of, writer.mask, guess);
  ++block_->events;
}

void BlockEncoder::add_match(RankId receiver, const Answer& match) {
  const std::uint32_t number = enter_lane(receiver, match.thread);
  const std::uint32_t guess = order_.predicted(number);
  const std::uint32_t of = template_number(template_of(Event{}, match, kNoDetail, kIsMatch), guess);
  FieldWriter writer{block_->end};
  code_match(writer, match, receiver.value, lanes_[number], templates_[of].same);
  settle(number, of, writer.mask, guess);
  ++block_->matches;
}

void BlockEncoder::finish() {
  end_run();
}

/// The lane's number, also in the columns of runs and lanes.
std::uint32_t BlockEncoder::enter_lane(RankId rank, ThreadId thread) {
  std::uint32_t& slot = lane_slot(rank, thread);
  if (slot == kNobody) {
    slot = static_cast<std::uint32_t>(lanes_.size());
    lanes_.push_back(run_lane_ == kNobody ? LaneState{} : LaneState{lanes_[run_lane_]});
    order_.add_lane(run_lane_);
    push(kLaneRank, as_bits(rank.value));
    push(kLaneThread, thread.value);
  }
  if (slot == run_lane_) {
    ++run_length_;
  } else {
    end_run();
    push(kRunLane, std::uint64_t{slot} - runs_.predicted());
    runs_.settle(slot);
    run_lane_ = slot;
    run_length_ = 1;
  }
  return slot;
}

/// kNobody if it has no row in this block yet.
std::uint32_t& BlockEncoder::lane_slot(RankId rank, ThreadId thread) {
  if (rank.value < 0 || rank.index() >= first_threads_.size())
    throw std::invalid_argument{"recording: an event of a rank that is not in the job"};
  if (thread.value != 0)
    return other_threads_.try_emplace(as_bits(rank.value) << 16U | thread.value, kNobody).first->second;
  LaneOfRank& known = first_threads_[rank.index()];
  if (known.block != number_) known = {number_, kNobody};
  return known.lane;
}

void BlockEncoder::end_run() {
  if (run_lane_ != kNobody) push(kRunLength, run_length_ - std::uint64_t{1});
}

std::uint32_t BlockEncoder::template_number(const Template& what, std::uint32_t guessed_shape) {
  if (guessed_shape < shapes_.size()) {
    const std::uint32_t guess = shapes_[guessed_shape].of;
    if (templates_[guess].what == what) return guess;
  }
  const std::uint64_t hash = hash_of(what);
  const std::uint32_t found =
      template_table_.find(hash, [&](std::uint32_t n) { return templates_[n].what == what; });
  if (found != kNobody) return found;
  const auto number = static_cast<std::uint32_t>(templates_.size());
  templates_.push_back({what, {}, kNobody});
  template_table_.add(hash, number);
  push(kTemplateCall, what.call);
  push(kTemplatePlace, what.place);
  push(kTemplateDetail, what.detail);
  return number;
}

std::uint32_t BlockEncoder::shape_number(std::uint32_t of, std::uint64_t mask, std::uint32_t guess) {
  const auto is = [&](std::uint32_t n) { return shapes_[n].of == of && shapes_[n].mask == mask; };
  if (guess < shapes_.size() && is(guess)) return guess;
  std::uint32_t& last = templates_[of].shape;
  if (last != kNobody && is(last)) return last;
  const std::uint64_t hash = NumberTable::mix(NumberTable::mix(0, mask), of);
  last = shape_table_.find(hash, is);
  if (last != kNobody) return last;
  last = static_cast<std::uint32_t>(shapes_.size());
  shapes_.push_back({of, mask});
  shape_table_.add(hash, last);
  push(kShapeTemplate, of);
  push(kShapeMask, mask);
  return last;
}

void BlockEncoder::settle(std::uint32_t lane, std::uint32_t of, std::uint64_t mask, std::uint32_t guess) {
  const std::uint32_t shape = shape_number(of, mask, guess);
  push(kShape, shape == guess ? 0 : shape + std::uint64_t{1});
  order_.settle(lane, shape);
}

void BlockEncoder::add_lists(const TimedEvent& event, const LaneState& lane) {
  const auto into = [this](Column column) {
    return
        [this, column](auto value, std::uint64_t prediction) { push(column, as_bits(value) - prediction); };
  };
  const auto& [words, sizes] = event.extension;
  code_list(words, first_word(event.event.kind, lane, words.size()), 1, into(kWords));
  code_list(sizes, 0, 0, into(kSizes));
  code_list(event.completed, 0, 1, into(kCompleted));
}

}  // namespace nplus1::events::recording

// Turns events and matches into the columns of one block at a time (docs/formats/recording.md, "Events").
// One thread, the writer's; the finished Block may then go to another.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "events/recording/columns.hpp"
#include "events/recording/number_table.hpp"
#include "events/recording/row_model.hpp"
#include "events/recording/row_order.hpp"

namespace nplus1::events::recording {

/// The columns of some rows, not yet packed.
class Block {
 public:
  Block();
  /// Rows after which a block is handed on: large enough to compress well, small enough for the caches.
  static constexpr std::uint32_t kRows = 1U << 15U;

  void clear();
  [[nodiscard]] std::span<std::uint64_t> entries(Column column);
  [[nodiscard]] std::uint32_t rows() const { return static_cast<std::uint32_t>(events + matches); }

  std::uint64_t events = 0;
  std::uint64_t matches = 0;
  std::array<std::uint64_t*, kColumns> end{};              // of each column of fields
  std::array<std::vector<std::uint64_t>, kColumns> grown;  // the other columns

 private:
  static constexpr std::size_t kRoom = kRows + 1;  // one for the entry that may not be kept
  static constexpr std::size_t kFields = kEndOfFields - kFirstField;
  [[nodiscard]] std::uint64_t* start_of(std::size_t column) const {
    return fields_.get() + (column - kFirstField) * kRoom;
  }
  std::unique_ptr<std::uint64_t[]> fields_;  // not initialised: pages of unused columns are never touched
};

class BlockEncoder {
 public:
  explicit BlockEncoder(std::int32_t ranks);

  /// Starts a new block in `block`, which must be clear, and stays until the next start().
  void start(Block& block);
  void add(const TimedEvent& event);
  void add_match(RankId receiver, const Answer& match);
  /// Whether the block should be handed on before the next row.
  [[nodiscard]] bool full() const;
  /// Completes the columns of structure. Then the block is done.
  void finish();

  /// Longest list that an event may have.
  [[nodiscard]] std::uint64_t longest_list() const { return longest_list_; }

 private:
  struct LaneOfRank {
    std::uint32_t block = 0;  // in which `lane` is valid
    std::uint32_t lane = 0;
  };
  struct TemplateState {
    Template what;
    Same same;
    std::uint32_t shape = kNobody;  // of its last row
  };
  struct Shape {
    std::uint32_t of = 0;  // template
    std::uint64_t mask = 0;
  };

  std::uint32_t enter_lane(RankId rank, ThreadId thread);
  std::uint32_t& lane_slot(RankId rank, ThreadId thread);
  void end_run();
  std::uint32_t template_number(const Template& what, std::uint32_t guessed_shape);
  std::uint32_t shape_number(std::uint32_t of, std::uint64_t mask, std::uint32_t guess);
  void settle(std::uint32_t lane, std::uint32_t of, std::uint64_t mask, std::uint32_t guess);
  void add_lists(const TimedEvent& event, const LaneState& lane);
  void push(Column column, std::uint64_t entry) { block_->grown[column].push_back(entry); }

  Block* block_ = nullptr;
  std::uint64_t longest_list_;
  std::uint32_t number_ = 0;  // of the block, as a stamp
  std::vector<LaneOfRank> first_threads_;
  std::unordered_map<std::uint64_t, std::uint32_t> other_threads_;
  std::vector<LaneState> lanes_;
  RunOrder runs_;
  std::uint32_t run_lane_ = kNobody;
  std::uint32_t run_length_ = 0;
  ShapeOrder order_;
  std::vector<TemplateState> templates_;
  NumberTable template_table_;
  std::vector<Shape> shapes_;
  NumberTable shape_table_;
};

}  // namespace nplus1::events::recording

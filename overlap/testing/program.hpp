// For tests of the analysis of overlap: programs written call by call with what touches their buffers. Not part of the
// product.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hypothesis/testing/program.hpp"
#include "hypothesis/transform/rank_order.hpp"
#include "overlap/efficiency.hpp"
#include "overlap/plan.hpp"
#include "overlap/rearrange.hpp"

namespace nplus1::overlap {

using events::Access;
using events::MpiCall;
using hypothesis::transform::kTestNetwork;
using hypothesis::transform::kUs;
using Ends = std::vector<double>;

class OverlapProgram : public hypothesis::transform::TestProgram {
 public:
  using TestProgram::TestProgram;

  /// Ordinals of the two halves.
  struct Exchange {
    std::uint64_t sent, received;
  };

  /// MPI_Sendrecv of `bytes` each way. `untouched`: how long before it, in us, its buffers were used last; negative:
  /// never.
  Exchange exchange(std::int32_t rank, std::int32_t to, std::int32_t from, std::int64_t bytes,
                    std::int64_t untouched = 0) {
    const std::uint64_t first = next_ordinal(rank) + (untouched < 0 ? 0 : 2);
    if (untouched >= 0) {
      untouched_for(rank, first, untouched);
      untouched_for(rank, first + 1, untouched);
    }
    const std::uint32_t send = isend(rank, to, bytes);
    called(rank, MpiCall::MPI_Sendrecv);
    const std::uint32_t receive = ireceive(rank, from);
    called(rank, MpiCall::MPI_Sendrecv, true);  // only the first of several events of a call is charged
    wait(rank, {send, receive});
    called(rank, MpiCall::MPI_Sendrecv, true);
    return {first, first + 1};
  }
  void untouched_for(std::int32_t rank, std::uint64_t call, std::int64_t us) {
    events::Event e;
    e.operation = static_cast<std::uint8_t>(Access::kLastTouch);
    e.aux = call;
    tell(rank, e, {us * kUs});
  }
  void touch(std::int32_t rank, std::uint64_t call, Access access = Access::kFirstTouch,
             std::uint32_t line = 90, std::int64_t offset = 0, Toucher by = Toucher::kProgram,
             bool inexact = false) {
    events::Event e;
    e.tag = inexact ? events::kInexactAccess : 0;
    e.operation = static_cast<std::uint8_t>(access);
    e.aux = call;
    e.size = offset;
    e.site = CallSiteId{line};
    e.peer = static_cast<std::int32_t>(by);
    tell(rank, e);
  }

  void survey() {
    survey_ = std::make_shared<Survey>(ranks());
    hypothesis::transform::RankOrder order;
    order.begin(*survey_);
    ASSERT_TRUE(play()(order, false).ok());
    order.finish();
    analysis_ = overlap::analyse(*survey_);
  }
  [[nodiscard]] const Survey& surveyed() const { return *survey_; }
  [[nodiscard]] const Analysis& analysis() const { return analysis_; }
  [[nodiscard]] std::vector<std::size_t> all_chains() const {
    std::vector<std::size_t> all;
    for (std::size_t c = 0; c < analysis_.chains.size(); ++c) all.push_back(c);
    return all;
  }

  /// When each rank ends, in us.
  [[nodiscard]] Ends with(const Plan& plan, const std::string& network = kTestNetwork,
                          bool weak = false) const {
    // Knows what every call was charged.
    auto chain = std::move(TestProgram::chain({})).value();
    if (!plan.empty()) {
      EXPECT_TRUE(chain.add(rearranged(survey_, std::make_shared<Plan>(plan)), play()).ok());
    }
    return replayed(chain, network, weak);
  }
  [[nodiscard]] Ends with(Variant variant, const std::string& network = kTestNetwork,
                          bool weak = false) const {
    return with(plan_of(*survey_, analysis_, all_chains(), variant), network, weak);
  }
  /// The calls of the run with the plan, with their times, into a sink.
  void replay_into(const Plan& plan, events::EventSink& sink,
                   const std::string& network = kTestNetwork) const {
    hypothesis::transform::Chain chain;
    if (!plan.empty()) {
      EXPECT_TRUE(chain.add(rearranged(survey_, std::make_shared<Plan>(plan)), play()).ok());
    }
    const auto model = netmodel::parse(network);
    Outcomes outcomes{sink};
    simnode::engine::Options options;
    options.trust_entry = false;
    options.report_all_matches = true;
    simnode::engine::Engine engine{static_cast<int>(ranks()), *model.value(), outcomes, options};
    hypothesis::EventFeed feed{ranks(), engine, nullptr, nullptr, {std::vector<double>(ranks(), 1), true}};
    EXPECT_TRUE(play()(chain.begin(feed), false).ok());
    chain.finish();
    feed.finish();
  }
  [[nodiscard]] double makespan(const Plan& plan, const std::string& network = kTestNetwork,
                                bool weak = false) const {
    const Ends ends = with(plan, network, weak);
    EXPECT_EQ(ends.size(), ranks());
    return ends.empty() ? 0 : *std::max_element(ends.begin(), ends.end());
  }
  [[nodiscard]] double makespan(Variant variant, const std::string& network = kTestNetwork,
                                bool weak = false) const {
    return makespan(plan_of(*survey_, analysis_, all_chains(), variant), network, weak);
  }

 private:
  class Outcomes final : public simnode::engine::Listener {
   public:
    explicit Outcomes(events::EventSink& sink) : sink_{sink} {}
    void on_exit(const events::TimedEvent& event) override { sink_.on_event(event); }
    void on_match(RankId receiver, const events::Answer& match) override { sink_.on_match(receiver, match); }

   private:
    events::EventSink& sink_;
  };

  std::shared_ptr<Survey> survey_;
  Analysis analysis_;
};

}  // namespace nplus1::overlap

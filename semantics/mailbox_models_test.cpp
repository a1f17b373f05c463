// The mailbox against plain lists, which are slow and obviously right.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <tuple>
#include <vector>

#include "semantics/mailbox.hpp"
#include "semantics/testing/mailboxes.hpp"

namespace nplus1::semantics {
namespace {

// A list of everything, searched from the front: slow, and obviously MPI's rule for named receives.
class PlainMailbox {
 public:
  std::optional<Message> post(const Receive& r) {
    for (auto it = messages_.begin(); it != messages_.end(); ++it) {
      if (!fits(r, *it)) continue;
      const Message m = *it;
      messages_.erase(it);
      return m;
    }
    receives_.push_back(r);
    return std::nullopt;
  }
  std::optional<Receive> arrive(const Message& m) {
    for (auto it = receives_.begin(); it != receives_.end(); ++it) {
      if (!fits(*it, m)) continue;
      const Receive r = *it;
      receives_.erase(it);
      return r;
    }
    messages_.push_back(m);
    return std::nullopt;
  }

 private:
  static bool fits(const Receive& r, const Message& m) {
    return r.comm == m.comm && r.source == m.source && (r.tag == kAnyTag || r.tag == m.tag);
  }
  std::deque<Message> messages_;
  std::deque<Receive> receives_;
};

TEST(Mailbox, AgreesWithAPlainListOnRandomNamedTraffic) {
  std::mt19937 random{1};
  Mailbox box;
  PlainMailbox plain;
  std::vector<Sender> senders;
  for (std::int32_t r = 0; r < 40; ++r) senders.push_back({r});
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const auto source = static_cast<std::int32_t>(random() % 40);
    const std::uint64_t comm = random() % 3;
    const auto tag = static_cast<std::int32_t>(random() % 3);
    if (random() % 2 == 0) {
      const Message m = senders[static_cast<std::size_t>(source)].message(tag, 0, comm);
      const auto fast = box.arrive(m);
      const auto slow = plain.arrive(m);
      ASSERT_EQ(fast.has_value(), slow.has_value());
      if (fast) {
        ASSERT_EQ(fast->id, slow->id);
      }
    } else {
      const Receive r = from(source, random() % 4 == 0 ? kAnyTag : tag, i, comm);
      const auto fast = box.post(r);
      const auto slow = plain.post(r);
      ASSERT_EQ(fast.has_value(), slow.has_value());
      if (fast) {
        ASSERT_EQ(fast->sequence, slow->sequence);
      }
    }
  }
}

// With every decision made at once in order of arrival, any-source receives follow the plain list's rule too.
TEST(Mailbox, DecidingAtOnceAgreesWithAPlainListInOrderOfArrival) {
  std::mt19937 random{2};
  for (int round = 0; round < 200; ++round) {
    Mailbox box;
    std::vector<Sender> senders;
    for (std::int32_t r = 0; r < 4; ++r) senders.push_back({r});
    std::vector<Receive> open;
    std::vector<Match> expected;
    std::vector<Match> settled;
    for (std::uint64_t id = 0; id < 8; ++id) {
      const auto tag = random() % 2 == 0 ? kAnyTag : static_cast<std::int32_t>(random() % 2);
      const Receive r =
          random() % 2 == 0 ? from_any(tag, id) : from(static_cast<std::int32_t>(random() % 4), tag, id);
      open.push_back(r);
      if (r.source == kAnySource)
        box.post_undecided(r);
      else
        EXPECT_FALSE(box.post(r));
    }
    for (std::int64_t now = 0; now < 20; ++now) {
      const Message m = senders[random() % 4].message(static_cast<std::int32_t>(random() % 2), now);
      for (auto it = open.begin(); it != open.end(); ++it) {
        if (it->source != kAnySource && it->source != m.source) continue;
        if (it->tag != kAnyTag && it->tag != m.tag) continue;
        expected.push_back({*it, m});
        open.erase(it);
        break;
      }
      if (const auto r = box.arrive(m)) settled.push_back({*r, m});
      while (const auto candidate = box.candidate()) box.decide(*candidate, settled);
    }
    ASSERT_EQ(settled.size(), expected.size());
    for (std::size_t i = 0; i < settled.size(); ++i) {
      EXPECT_EQ(settled[i].receive.id, expected[i].receive.id);
      EXPECT_EQ(settled[i].message.source, expected[i].message.source);
      EXPECT_EQ(settled[i].message.sequence, expected[i].message.sequence);
    }
  }
}

/// The whole of the rules on two lists, looked at from the front each time.
class ListMailbox {
 public:
  std::optional<Message> post(const Receive& r) {
    receives_.push_back({r, order_++, false});
    return settle_one(receives_.size() - 1);
  }
  std::optional<Receive> arrive(const Message& m) {
    messages_.push_back(m);
    for (std::size_t i = 0; i < receives_.size(); ++i) {
      if (receives_[i].any || !fits(receives_[i].receive, m)) continue;
      const Receive taker = receives_[i].receive;
      if (settle_one(i)) return taker;
      return std::nullopt;
    }
    return std::nullopt;
  }
  void post_undecided(const Receive& r) { receives_.push_back({r, order_++, true}); }
  std::optional<Message> take(const Message& m) {
    for (std::size_t i = 0; i < messages_.size(); ++i)
      if (same(messages_[i], m)) return take_at(i);
    return std::nullopt;
  }
  const Message* peek(std::uint64_t comm, RankId source, std::int32_t tag) {
    return best({comm, source, tag, 0, {}}, order_, true);
  }
  std::optional<Candidate> candidate() {
    std::optional<Candidate> earliest;
    std::vector<std::pair<std::uint64_t, std::int32_t>> asked;
    for (const Entry& e : receives_) {
      if (!e.any) continue;
      const std::pair key{e.receive.comm, e.receive.tag};
      const bool first = asked.empty();
      if (std::find(asked.begin(), asked.end(), key) != asked.end()) continue;
      asked.push_back(key);
      const Message* m = best(e.receive, e.order, false);
      if (m == nullptr) continue;
      const Time meet = first ? m->at : std::max(m->at, e.receive.posted);
      if (!earliest || meet < earliest->at) earliest = Candidate{e.receive.id, m->source, m->sequence, meet};
    }
    return earliest;
  }
  void decide(const Candidate& c, std::vector<Match>& settled) {
    const auto it = std::find_if(receives_.begin(), receives_.end(),
                                 [&](const Entry& e) { return e.receive.id == c.receive_id; });
    const Receive receive = it->receive;
    receives_.erase(it);
    for (std::size_t i = 0; i < messages_.size(); ++i)
      if (messages_[i].comm == receive.comm && messages_[i].source == c.source &&
          messages_[i].sequence == c.sequence) {
        settled.push_back({receive, take_at(i)});
        break;
      }
    settle(settled);
  }
  bool cancel(std::uint64_t id, std::vector<Match>& settled) {
    const auto it =
        std::find_if(receives_.begin(), receives_.end(), [&](const Entry& e) { return e.receive.id == id; });
    if (it == receives_.end()) return false;
    receives_.erase(it);
    settle(settled);
    return true;
  }
  [[nodiscard]] const std::vector<Message>& messages() const { return messages_; }

 private:
  struct Entry {
    Receive receive;
    std::uint64_t order;
    bool any;
  };
  static bool fits(const Receive& r, const Message& m) {
    return r.comm == m.comm && (r.tag == kAnyTag || r.tag == m.tag) &&
           (r.source == kAnySource || r.source == m.source);
  }
  static bool same(const Message& a, const Message& b) {
    return a.comm == b.comm && a.source == b.source && a.sequence == b.sequence;
  }
  Message take_at(std::size_t i) {
    const Message m = messages_[i];
    messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(i));
    return m;
  }
  bool wanted_earlier(const Message& m, std::uint64_t order, bool by_any) const {
    return std::any_of(receives_.begin(), receives_.end(), [&](const Entry& e) {
      return e.order < order && (by_any || !e.any) && fits(e.receive, m);
    });
  }
  const Message* best(const Receive& r, std::uint64_t order, bool by_any) {
    const Message* found = nullptr;
    std::vector<RankId> seen;
    for (const Message& m : messages_) {
      if (!fits(r, m) || std::find(seen.begin(), seen.end(), m.source) != seen.end()) continue;
      seen.push_back(m.source);
      if (wanted_earlier(m, order, by_any)) continue;
      if (found == nullptr || std::pair{m.at, m.source} < std::pair{found->at, found->source}) found = &m;
    }
    return found;
  }
  std::optional<Message> settle_one(std::size_t i) {
    const Entry e = receives_[i];
    for (std::size_t m = 0; m < messages_.size(); ++m) {
      if (!fits(e.receive, messages_[m])) continue;
      if (wanted_earlier(messages_[m], e.order, true)) return std::nullopt;
      receives_.erase(receives_.begin() + static_cast<std::ptrdiff_t>(i));
      return take_at(m);
    }
    return std::nullopt;
  }
  void settle(std::vector<Match>& settled) {
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = 0; i < receives_.size() && !again; ++i) {
        if (receives_[i].any) continue;
        const Receive r = receives_[i].receive;
        if (const auto m = settle_one(i)) {
          settled.push_back({r, *m});
          again = true;
        }
      }
    }
  }

  std::vector<Message> messages_;  // in order of arrival, which is each sender's order
  std::vector<Entry> receives_;    // in order of posting
  std::uint64_t order_ = 0;
};

std::vector<std::tuple<std::uint64_t, std::int32_t, std::uint64_t>> sorted(
    const std::vector<Match>& matches) {
  std::vector<std::tuple<std::uint64_t, std::int32_t, std::uint64_t>> all;
  for (const Match& m : matches) all.emplace_back(m.receive.id, m.message.source.value, m.message.sequence);
  std::sort(all.begin(), all.end());
  return all;
}

/// Few and many of everything: short lists are walked, long ones sorted, and both must do the same.
TEST(Mailbox, AgreesWithPlainListsOnRandomTrafficOfEveryKind) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random{seed};
    const auto below = [&](std::uint32_t n) { return static_cast<std::int32_t>(random() % n); };
    const auto up_to = [&](std::uint32_t n) { return 1 + static_cast<std::uint32_t>(below(n)); };
    const std::uint32_t sources = up_to(4);
    const std::uint32_t tags = up_to(5);
    const std::uint32_t comms = up_to(2);
    const std::uint32_t eager_to_send = up_to(8);  // of 10: how much waits
    Mailbox box;
    ListMailbox plain;
    std::vector<Sender> senders;
    for (std::uint32_t s = 0; s < sources; ++s) senders.push_back({static_cast<std::int32_t>(s)});
    std::vector<std::uint64_t> ids;
    for (std::uint64_t step = 0; step < 400; ++step) {
      const std::uint64_t comm = random() % comms;
      const std::int32_t tag = below(4) == 0 ? kAnyTag : below(tags);
      const auto what = random() % 12;
      std::vector<Match> ours, theirs;
      if (random() % 10 < eager_to_send) {
        const Message m = senders[random() % sources].message(below(tags), below(50), comm);
        const auto mine = box.arrive(m);
        const auto expected = plain.arrive(m);
        ASSERT_EQ(mine.has_value(), expected.has_value()) << seed << " " << step;
        if (mine) {
          ASSERT_EQ(mine->id, expected->id) << seed << " " << step;
        }
      } else if (what < 5) {
        const Receive r{comm, RankId{below(sources)}, tag, step, at(below(50))};
        ids.push_back(step);
        const auto mine = box.post(r);
        const auto expected = plain.post(r);
        ASSERT_EQ(mine.has_value(), expected.has_value()) << seed << " " << step;
        if (mine) {
          ASSERT_EQ(mine->sequence, expected->sequence) << seed << " " << step;
        }
      } else if (what < 8) {
        const Receive r{comm, kAnySource, tag, step, at(below(50))};
        ids.push_back(step);
        box.post_undecided(r);
        plain.post_undecided(r);
      } else if (what < 10) {
        const auto mine = box.candidate();
        const auto expected = plain.candidate();
        ASSERT_EQ(mine.has_value(), expected.has_value()) << seed << " " << step;
        if (!mine) continue;
        ASSERT_EQ(std::tuple(mine->receive_id, mine->source, mine->sequence, mine->at),
                  std::tuple(expected->receive_id, expected->source, expected->sequence, expected->at))
            << seed << " " << step;
        box.decide(*mine, ours);
        plain.decide(*expected, theirs);
      } else if (what == 10 && !ids.empty()) {
        const std::uint64_t id = ids[random() % ids.size()];
        ASSERT_EQ(box.cancel(id, ours), plain.cancel(id, theirs)) << seed << " " << step;
      } else {
        const RankId source = below(3) == 0 ? kAnySource : RankId{below(sources)};
        const Message* mine = box.peek(comm, source, tag);
        const Message* expected = plain.peek(comm, source, tag);
        ASSERT_EQ(mine != nullptr, expected != nullptr) << seed << " " << step;
        if (mine != nullptr) {
          ASSERT_EQ(mine->sequence, expected->sequence) << seed << " " << step;
        }
      }
      ASSERT_EQ(sorted(ours), sorted(theirs)) << seed << " " << step;
      ASSERT_EQ(box.waiting_messages(), plain.messages().size()) << seed << " " << step;
    }
  }
}

}  // namespace
}  // namespace nplus1::semantics

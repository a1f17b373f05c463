#include "tests/random_programs/script.hpp"

namespace random_programs {
namespace {

/// A call's requests: those of the operations, with null requests between.
struct Requests {
  std::vector<Operation*> of;  // null: a null request
  std::vector<MPI_Request> handles;
  std::vector<MPI_Status> statuses;
  std::vector<int> indices;
  std::size_t left = 0;

  Requests(Script& s, const std::vector<Operation*>& operations) {
    for (Operation* o : operations) {
      if (s.own.chance(5)) add(nullptr);
      add(o);
      ++left;
    }
  }
  void add(Operation* o) {
    of.push_back(o);
    handles.push_back(o != nullptr ? o->request : MPI_REQUEST_NULL);
    statuses.emplace_back();
    indices.push_back(0);
  }
  int count() const { return static_cast<int>(of.size()); }
  void done(Script& s, int index, const MPI_Status& status) {
    const auto i = static_cast<std::size_t>(index);
    s.check(of[i] != nullptr, "a request that was not active has completed");
    s.check(of[i]->persistent || handles[i] == MPI_REQUEST_NULL,
            "a request that has completed is still there");
    of[i]->finish(status);
    of[i]->request = handles[i];
    of[i] = nullptr;
    --left;
  }
  void all_done(Script& s) {
    for (int i = 0; i < count(); ++i)
      if (of[static_cast<std::size_t>(i)] != nullptr) done(s, i, statuses[static_cast<std::size_t>(i)]);
  }
};

void wait_for_any(Script& s, Requests& r) {
  while (r.left > 0) {
    int index;
    MPI_Status status;
    CALL(s, Waitany, r.count(), r.handles.data(), &index, &status);
    s.check(index != MPI_UNDEFINED, "Waitany knows no request");
    s.note_order(static_cast<std::uint64_t>(index));
    r.done(s, index, status);
  }
}

void some_done(Script& s, Requests& r, int outcount) {
  s.check(outcount != MPI_UNDEFINED, "Waitsome or Testsome knows no request");
  for (int k = 0; k < outcount; ++k) {
    s.note_order(static_cast<std::uint64_t>(r.indices[static_cast<std::size_t>(k)]));
    r.done(s, r.indices[static_cast<std::size_t>(k)], r.statuses[static_cast<std::size_t>(k)]);
  }
}

void wait_for_some(Script& s, Requests& r) {
  while (r.left > 0) {
    int count;
    CALL(s, Waitsome, r.count(), r.handles.data(), &count, r.indices.data(), r.statuses.data());
    s.check(count > 0, "Waitsome has none");
    some_done(s, r, count);
  }
}

void test_some(Script& s, Requests& r) {
  while (r.left > 0) {
    int count;
    CALL(s, Testsome, r.count(), r.handles.data(), &count, r.indices.data(), r.statuses.data());
    s.note_order(static_cast<std::uint64_t>(count));
    some_done(s, r, count);
  }
}

void test_any(Script& s, Requests& r) {
  while (r.left > 0) {
    int index, flag;
    MPI_Status status;
    CALL(s, Testany, r.count(), r.handles.data(), &index, &flag, &status);
    s.note_order(static_cast<std::uint64_t>(flag));
    if (flag == 0) continue;
    s.check(index != MPI_UNDEFINED, "Testany knows no request");
    s.note_order(static_cast<std::uint64_t>(index));
    r.done(s, index, status);
  }
}

void test_all(Script& s, Requests& r) {
  for (int flag = 0; flag == 0; s.note_order(static_cast<std::uint64_t>(flag)))
    CALL(s, Testall, r.count(), r.handles.data(), &flag, r.statuses.data());
  r.all_done(s);
}

void one_by_one(Script& s, Requests& r, int way) {
  for (int i = 0; i < r.count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (r.of[at] == nullptr) continue;
    if (way == 1)
      for (int flag = 0; flag == 0; s.note_order(static_cast<std::uint64_t>(flag)))
        CALL(s, Request_get_status, r.handles[at], &flag, MPI_STATUS_IGNORE);
    if (way == 2)
      for (int flag = 0; flag == 0; s.note_order(static_cast<std::uint64_t>(flag)))
        CALL(s, Test, &r.handles[at], &flag, &r.statuses[at]);
    else
      CALL(s, Wait, &r.handles[at], &r.statuses[at]);
    r.done(s, i, r.statuses[at]);
  }
}

}  // namespace

void complete(Script& s, std::vector<Operation*> operations) {
  if (operations.empty()) return;
  s.own.shuffle(operations);
  Requests r{s, operations};
  const int way = s.own.below(9);
  switch (operations[0]->collective ? (way % 2 == 0 ? 5 : 7) : way) {
    case 0:
      return wait_for_any(s, r);
    case 1:
      return wait_for_some(s, r);
    case 2:
      return test_some(s, r);
    case 3:
      return test_any(s, r);
    case 4:
      return test_all(s, r);
    case 5:
      return one_by_one(s, r, 0);
    case 6:
      return one_by_one(s, r, 1);
    case 7:
      return one_by_one(s, r, 2);
    default:
      CALL(s, Waitall, r.count(), r.handles.data(), r.statuses.data());
      r.all_done(s);
  }
}

void complete_now(Script& s, MPI_Request& request, const std::function<void(const MPI_Status&)>& finish) {
  Operation one{s.rank, -1, false, false, request, finish};
  complete(s, {&one});
  request = one.request;
}

void later(Script& s, int owner, int message, MPI_Request request,
           std::function<void(const MPI_Status&)> finish) {
  s.operations.push_back({owner, message, false, false, request, std::move(finish)});
}

void complete_step(Script& s, bool all) {
  std::vector<Operation> left;
  std::vector<Operation> chosen;
  const int share = all ? 100 : s.random.between(20, 100);
  for (Operation& o : s.operations) {
    const bool ready = s.messages.count(o.message) == 0;
    if (s.random.chance(share) && ready)
      chosen.push_back(std::move(o));
    else
      left.push_back(std::move(o));
  }
  s.operations = std::move(left);
  std::vector<Operation*> mine;
  for (Operation& o : chosen)
    if (o.owner == s.rank) mine.push_back(&o);
  complete(s, mine);
}

}  // namespace random_programs

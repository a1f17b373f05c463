// The other analysers: the few collective exchanges that they need, of plain values in vectors. Every function is
// called by all analysers, in the same order. One thread of each process; errors of MPI end the job.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

namespace nplus1::detector {

class Peers {
 public:
  Peers() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  [[nodiscard]] std::size_t rank() const { return static_cast<std::size_t>(rank_); }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(size_); }

  /// What all others have for this one, by sender. `to`: a list for each.
  template <class T>
  std::vector<std::vector<T>> exchange(const std::vector<std::vector<T>>& to) const {
    const Item<T> item;
    std::vector<int> sends;
    for (const auto& list : to) sends.push_back(static_cast<int>(list.size()));
    std::vector<int> receives(size());
    MPI_Alltoall(sends.data(), 1, MPI_INT, receives.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::vector<std::vector<T>> from(size());
    std::vector<MPI_Request> requests;
    const auto other = [&](std::size_t i) { return static_cast<int>((rank() + i) % size()); };
    for (std::size_t i = 1; i < size(); ++i) {
      auto& list = from[static_cast<std::size_t>(other(i))];
      list.resize(static_cast<std::size_t>(receives[static_cast<std::size_t>(other(i))]));
      MPI_Irecv(list.data(), static_cast<int>(list.size()), item.type, other(i), 0, MPI_COMM_WORLD,
                &requests.emplace_back());
    }
    for (std::size_t i = 1; i < size(); ++i) {
      const auto& list = to[static_cast<std::size_t>(other(i))];
      MPI_Isend(list.data(), static_cast<int>(list.size()), item.type, other(i), 0, MPI_COMM_WORLD,
                &requests.emplace_back());
    }
    from[rank()] = to[rank()];
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    return from;
  }

  /// Everybody's list for everybody, in the order of the analysers.
  template <class T>
  std::vector<T> all(const std::vector<T>& mine) const {
    return gathered(mine, true);
  }
  /// Everybody's list for the first; nothing for the others.
  template <class T>
  std::vector<T> first(const std::vector<T>& mine) const {
    return gathered(mine, false);
  }
  /// Everybody's numbers added up, place by place.
  std::vector<std::uint64_t> sum(const std::vector<std::uint64_t>& mine) const {
    std::vector<std::uint64_t> whole(mine.size());
    MPI_Allreduce(mine.data(), whole.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    return whole;
  }

 private:
  /// A type for whole items: counts stay below 2^31 where bytes would not.
  template <class T>
  struct Item {
    static_assert(std::is_trivially_copy_constructible_v<T>);  // std::pair is no more than that
    Item() {
      MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &type);
      MPI_Type_commit(&type);
    }
    ~Item() { MPI_Type_free(&type); }
    Item(const Item&) = delete;
    Item& operator=(const Item&) = delete;
    MPI_Datatype type = MPI_DATATYPE_NULL;
  };

  template <class T>
  std::vector<T> gathered(const std::vector<T>& mine, bool everybody) const {
    const Item<T> item;
    const int count = static_cast<int>(mine.size());
    std::vector<int> counts(size());
    MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::vector<int> offsets(size());
    std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
    std::vector<T> whole;
    if (everybody || rank_ == 0) whole.resize(static_cast<std::size_t>(offsets.back() + counts.back()));
    if (everybody)
      MPI_Allgatherv(mine.data(), count, item.type, whole.data(), counts.data(), offsets.data(), item.type,
                     MPI_COMM_WORLD);
    else
      MPI_Gatherv(mine.data(), count, item.type, whole.data(), counts.data(), offsets.data(), item.type, 0,
                  MPI_COMM_WORLD);
    return whole;
  }

  int rank_ = 0;
  int size_ = 1;
};

}  // namespace nplus1::detector

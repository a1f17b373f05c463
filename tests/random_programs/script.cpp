#include "tests/random_programs/script.hpp"

#include <algorithm>

namespace random_programs {

int index_in(const std::vector<int>& group, int world) {
  const auto found = std::find(group.begin(), group.end(), world);
  return found == group.end() ? -1 : static_cast<int>(found - group.begin());
}

bool Communicator::has(int world) const {
  return index_in(members, world) >= 0 || index_in(others, world) >= 0;
}

const std::vector<int>& Communicator::group_of(int world) const {
  return index_in(members, world) >= 0 ? members : others;
}

const std::vector<int>& Communicator::peers_of(int world) const {
  if (!inter()) return members;
  return index_in(members, world) >= 0 ? others : members;
}

std::vector<int> Communicator::everybody() const {
  std::vector<int> all = members;
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::uint64_t Message::key() const {
  return mix(static_cast<std::uint64_t>(id), 1234567);
}

void Script::wrong(const std::string& what) const {
  std::fprintf(stderr, "wrong: script %llu, step %d, rank %d: %s\n",
               static_cast<unsigned long long>(options.seed), step, rank, what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 99);
  std::abort();
}

Communicator* Script::find(int id) {
  for (Communicator& c : communicators)
    if (c.id == id) return &c;
  return nullptr;
}

Communicator* random_communicator(Script& s, int least, bool inter_too) {
  std::vector<Communicator*> fit;
  for (Communicator& c : s.communicators)
    if (c.size() >= least && (inter_too || !c.inter())) fit.push_back(&c);
  return fit.empty() ? nullptr : s.random.of(fit);
}

long random_bytes(Script& s) {
  long bytes;
  switch (s.random.below(12)) {
    case 0:
      bytes = 0;
      break;
    case 1:
    case 2:
    case 3:
      bytes = s.random.between(1, 64);
      break;
    case 4:
    case 5:
    case 6:
      bytes = s.random.between(65, 1024);
      break;
    case 7:
    case 8:
      bytes = s.random.between(1025, 7000);
      break;
    case 9:
      bytes = s.random.of({8192, 16384, 65536}) + 8 * s.random.between(-2, 2);
      break;
    case 10:
      bytes = s.random.between(8000, 70000);
      break;
    default:
      bytes = s.random.chance(10) ? s.random.between(200000, 1 << 20) : s.random.between(1, 300);
  }
  return std::min<long>(bytes, s.options.largest);
}

}  // namespace random_programs

#include "tests/random_programs/layout.hpp"

#include <algorithm>

namespace random_programs {
namespace {

constexpr unsigned char kBlank = 0xE7;

struct Block {
  int displacement;  // in bases
  int length;
};

std::vector<Block> random_blocks(Random& random, int bases) {
  std::vector<Block> blocks;
  const bool regular = random.chance(40);
  const int length = random.between(1, 3);
  const int gap = random.between(0, 3);
  int place = random.chance(30) ? random.below(4) : 0;
  for (int left = bases; left > 0;) {
    const int now = std::min(left, regular ? length : random.between(1, 4));
    blocks.push_back({place, now});
    place += now + (regular ? gap : random.below(4));
    left -= now;
    if (!regular && random.chance(10)) blocks.push_back({place, 0});
  }
  if (!regular && random.chance(40)) random.shuffle(blocks);
  return blocks;
}

bool equal_lengths(const std::vector<Block>& blocks) {
  return std::all_of(blocks.begin(), blocks.end(),
                     [&](const Block& b) { return b.length == blocks[0].length; });
}

bool equal_strides(const std::vector<Block>& blocks) {
  if (!equal_lengths(blocks) || blocks[0].displacement != 0) return false;
  for (std::size_t i = 2; i < blocks.size(); ++i)
    if (blocks[i].displacement - blocks[i - 1].displacement != blocks[1].displacement) return false;
  return true;
}

MPI_Datatype build(Random& random, const Base& base, const std::vector<Block>& blocks) {
  const int n = static_cast<int>(blocks.size());
  std::vector<int> lengths, places;
  std::vector<MPI_Aint> addresses;
  for (const Block& b : blocks) {
    lengths.push_back(b.length);
    places.push_back(b.displacement);
    addresses.push_back(MPI_Aint{b.displacement} * base.extent);
  }
  MPI_Datatype type;
  const int stride = n > 1 ? places[1] : lengths[0];
  if (equal_strides(blocks) && random.chance(60)) {
    if (random.chance(50))
      MPI_Type_vector(n, lengths[0], stride, base.type, &type);
    else
      MPI_Type_create_hvector(n, lengths[0], MPI_Aint{stride} * base.extent, base.type, &type);
  } else if (equal_lengths(blocks) && random.chance(60)) {
    if (random.chance(50))
      MPI_Type_create_indexed_block(n, lengths[0], places.data(), base.type, &type);
    else
      MPI_Type_create_hindexed_block(n, lengths[0], addresses.data(), base.type, &type);
  } else if (const int way = random.below(3); way == 0) {
    MPI_Type_indexed(n, lengths.data(), places.data(), base.type, &type);
  } else if (way == 1) {
    MPI_Type_create_hindexed(n, lengths.data(), addresses.data(), base.type, &type);
  } else {
    std::vector<MPI_Datatype> types(blocks.size(), base.type);
    MPI_Type_create_struct(n, lengths.data(), addresses.data(), types.data(), &type);
  }
  return type;
}

void replace(MPI_Datatype& type, MPI_Datatype by) {
  MPI_Type_free(&type);
  type = by;
}

unsigned char pattern(std::uint64_t key, long i) {
  return static_cast<unsigned char>(key + static_cast<std::uint64_t>(i) * 31 +
                                    static_cast<std::uint64_t>(i >> 8) * 17);
}

}  // namespace

Base random_base(Random& random) {
  return random.of({Base{MPI_BYTE, 1}, Base{MPI_CHAR, 1}, Base{MPI_SHORT, 2}, Base{MPI_INT, 4},
                    Base{MPI_FLOAT, 4}, Base{MPI_DOUBLE, 8}, Base{MPI_INT64_T, 8}});
}

Base random_pair(Random& random) {
  return random.of({Base{MPI_DOUBLE_INT, 12, 16}, Base{MPI_LONG_INT, 12, 16}});
}

void Layout::release() {
  if (derived) MPI_Type_free(&type);
  derived = false;
}

Layout plain(const Base& base) {
  Layout l;
  l.type = base.type;
  l.extent = base.extent;
  for (int i = 0; i < base.size; ++i) l.bytes.push_back(i);
  return l;
}

Layout random_layout(Random& random, const Base& base, int bases) {
  const auto blocks = random_blocks(random, bases);
  Layout l;
  l.derived = true;
  l.bases = bases;
  l.type = build(random, base, blocks);
  for (const Block& b : blocks)
    for (int k = 0; k < b.length; ++k)
      for (int i = 0; i < base.size; ++i) l.bytes.push_back(MPI_Aint{b.displacement + k} * base.extent + i);
  MPI_Datatype other;
  MPI_Aint lower;
  MPI_Type_get_extent(l.type, &lower, &l.extent);
  if (random.chance(30)) {
    lower = random.chance(20) ? -MPI_Aint{base.extent} : 0;
    const MPI_Aint end = 1 + *std::max_element(l.bytes.begin(), l.bytes.end()) + base.extent - base.size;
    l.extent = end + MPI_Aint{random.below(3)} * base.extent;
    MPI_Type_create_resized(l.type, lower, l.extent, &other);
    replace(l.type, other);
  }
  if (random.chance(15)) {
    MPI_Type_dup(l.type, &other);
    replace(l.type, other);
  }
  MPI_Type_commit(&l.type);
  return l;
}

Memory::Memory(const Layout& layout, long elements) {
  const MPI_Aint end = 1 + *std::max_element(layout.bytes.begin(), layout.bytes.end());
  bytes_.assign(static_cast<std::size_t>(elements > 0 ? (elements - 1) * layout.extent + end : 0) + 8,
                kBlank);
}

void Memory::blank() {
  std::fill(bytes_.begin(), bytes_.end(), kBlank);
}

void Memory::put(const Layout& layout, long from, long count, std::uint64_t key, long limit) {
  long i = 0;
  for (long e = from; e < from + count; ++e)
    for (const MPI_Aint byte : layout.bytes) {
      if (i == limit) return;
      bytes_[static_cast<std::size_t>(e * layout.extent + byte)] = pattern(key, i);
      ++i;
    }
}

Argument argument(Random& random, Memory& memory, const Layout& layout, int count) {
  if (count == 0 || !random.chance(8)) return {memory.data(), count, layout.type, false};
  MPI_Aint address;
  MPI_Get_address(memory.data(), &address);
  Argument made{MPI_BOTTOM, 1, MPI_DATATYPE_NULL, true};
  MPI_Type_create_hindexed_block(1, count, &address, layout.type, &made.type);
  MPI_Type_commit(&made.type);
  return made;
}

}  // namespace random_programs

#include "stubs/access/operand_size.hpp"

namespace nplus1::stubs::access {
namespace {

struct Prefixes {
  bool operand16 = false;
  bool repeat = false;      // F3
  bool repeat_not = false;  // F2
  bool wide = false;        // REX.W
};

std::uint64_t integer(const Prefixes& p) {
  return p.wide ? 8 : p.operand16 ? 2 : 4;
}

/// SSE in its legacy encoding: 0F and one more byte.
std::uint64_t of_two_bytes(std::uint8_t opcode, const Prefixes& p) {
  const bool moves = opcode == 0x10 || opcode == 0x11 || (opcode >= 0x51 && opcode <= 0x5f) ||
                     opcode == 0x2a || opcode == 0x2c || opcode == 0x2d || opcode == 0xc2;
  if (moves && p.repeat) return opcode == 0x2a ? integer(p) : 4;
  if (moves && p.repeat_not) return opcode == 0x2a ? integer(p) : 8;
  switch (opcode) {
    case 0x12:  // movlps, movhps and their kin
    case 0x13:
    case 0x16:
    case 0x17:
    case 0xd6:
      return p.repeat ? 16 : 8;
    case 0x2e:  // comisd
    case 0x2f:
      return p.operand16 ? 8 : 4;
    case 0x5a:  // cvtps2pd, cvtpd2ps
    case 0xe6:
      return 16;
    case 0x6e:
      return p.wide ? 8 : 4;
    case 0x7e:
      return p.repeat || p.wide ? 8 : 4;
    case 0xb6:  // movzx, movsx
    case 0xbe:
    case 0xb0:
    case 0xc0:
      return 1;
    case 0xb7:
    case 0xbf:
      return 2;
    case 0xc7:  // cmpxchg8b, cmpxchg16b
      return p.wide ? 16 : 8;
    default:
      break;
  }
  if (opcode >= 0x90 && opcode <= 0x9f) return 1;                             // setcc
  if (opcode >= 0x40 && opcode <= 0x4f) return integer(p);                    // cmovcc
  if (opcode >= 0xa0 && opcode <= 0xc1 && opcode != 0xae) return integer(p);  // bt, imul, xadd, cmpxchg
  if (opcode == 0x18 || opcode == 0x0d || opcode == 0x1f) return 1;           // prefetch
  return 16;
}

/// AVX: `scalar` instructions touch one element, whatever the length says.
std::uint64_t of_vector(std::uint8_t opcode, unsigned map, unsigned prefix, unsigned length, bool wide) {
  const std::uint64_t whole = std::uint64_t{16} << length;
  const bool arithmetic = opcode == 0x10 || opcode == 0x11 ||
                          (opcode >= 0x51 && opcode <= 0x5f && opcode != 0x5b) || opcode == 0x2a ||
                          opcode == 0x2c || opcode == 0x2d;
  if (map == 1 && arithmetic && prefix == 2) return 4;
  if (map == 1 && arithmetic && prefix == 3) return 8;
  if (map == 1 && (opcode == 0x12 || opcode == 0x13 || opcode == 0x16 || opcode == 0x17 || opcode == 0xd6))
    return prefix >= 2 ? whole : 8;
  if (map == 1 && (opcode == 0x6e || opcode == 0x7e)) return prefix == 2 || wide ? 8 : 4;
  if (map == 1 && (opcode == 0x2e || opcode == 0x2f)) return prefix == 1 ? 8 : 4;
  if (map == 2 && opcode == 0x18) return 4;   // vbroadcastss
  if (map == 2 && opcode == 0x19) return 8;   // vbroadcastsd
  if (map == 2 && opcode == 0x1a) return 16;  // vbroadcastf128
  if (map == 2 && (opcode == 0x58 || opcode == 0x59)) return opcode == 0x58 ? 4 : 8;
  const bool fused = map == 2 && ((opcode >= 0x99 && opcode <= 0x9f) || (opcode >= 0xa9 && opcode <= 0xaf) ||
                                  (opcode >= 0xb9 && opcode <= 0xbf));
  if (fused && (opcode & 1U) != 0) return wide ? 8 : 4;  // vfmadd...ss and ...sd
  return whole;
}

std::uint64_t of_one_byte(std::uint8_t opcode, const std::uint8_t* next, const Prefixes& p) {
  const bool arithmetic = opcode < 0x40 && (opcode & 7U) < 4;
  if (arithmetic || (opcode >= 0x84 && opcode <= 0x8b) || (opcode >= 0x80 && opcode <= 0x83))
    return (opcode & 1U) == 0 && opcode != 0x82 ? 1 : integer(p);
  switch (opcode) {
    case 0x63:  // movsxd
      return 4;
    case 0xc0:
    case 0xc6:
    case 0xd0:
    case 0xd2:
    case 0xf6:
    case 0xfe:
    case 0xa4:
    case 0xaa:
    case 0xac:
    case 0xa6:
    case 0xae:
      return 1;
    case 0xd8:  // x87
    case 0xda:
      return 4;
    case 0xd9:
      return (*next >> 3U & 7U) >= 4 ? 28 : 4;
    case 0xdb:
      return (*next >> 3U & 7U) >= 5 ? 10 : 4;
    case 0xdc:
      return 8;
    case 0xdd:
      return (*next >> 3U & 7U) >= 4 ? 64 : 8;
    case 0xde:
      return 2;
    case 0xdf:
      return 10;
    case 0xff:  // call, jump and push through memory
    case 0x8f:
    case 0xc3:
    case 0xe8:
    case 0xc9:
      return 8;
    default:
      break;
  }
  if (opcode >= 0x50 && opcode <= 0x5f) return 8;  // push and pop
  return integer(p);
}

bool is_string(std::uint8_t opcode) {
  return (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf);
}

}  // namespace

Operand operand_at(const std::uint8_t* code, std::uint64_t count) noexcept {
  Prefixes p;
  for (;; ++code) {
    if (*code == 0x66)
      p.operand16 = true;
    else if (*code == 0xf3)
      p.repeat = true;
    else if (*code == 0xf2)
      p.repeat_not = true;
    else if (*code != 0x67 && *code != 0x2e && *code != 0x36 && *code != 0x3e && *code != 0x26 &&
             *code != 0x64 && *code != 0x65 && *code != 0xf0)
      break;
  }
  if (*code == 0xc5) {
    const unsigned second = code[1];
    return {of_vector(code[2], 1, second & 3U, second >> 2U & 1U, false)};
  }
  if (*code == 0xc4) {
    const unsigned third = code[2];
    return {of_vector(code[3], code[1] & 31U, third & 3U, third >> 2U & 1U, (third >> 7U) != 0)};
  }
  if (*code == 0x62) {
    const unsigned third = code[2], length = code[3] >> 5U & 3U;
    return {of_vector(code[4], code[1] & 7U, third & 3U, length > 2 ? 2 : length, (third >> 7U) != 0)};
  }
  if ((*code & 0xf0U) == 0x40) {
    p.wide = (*code & 8U) != 0;
    ++code;
  }
  if (*code == 0x0f) {
    if (code[1] == 0x38 || code[1] == 0x3a) return {16};
    return {of_two_bytes(code[1], p)};
  }
  const std::uint64_t size = of_one_byte(*code, code + 1, p);
  if (!is_string(*code) || !(p.repeat || p.repeat_not)) return {size};
  return {size * (count == 0 ? 1 : count), true};
}

}  // namespace nplus1::stubs::access

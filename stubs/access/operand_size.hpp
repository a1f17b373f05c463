// How many bytes an instruction accesses from the address on at which it faulted: the processor tells only the first.
// No disassembler: prefixes, maps and vector lengths suffice for moves, arithmetic and string instructions. Where an
// instruction is not known the answer is more rather than less, at most 64 bytes but for string instructions.
#pragma once

#include <cstdint>

namespace nplus1::stubs::access {

struct Operand {
  std::uint64_t bytes = 8;
  bool repeats = false;  // a string instruction with a repeat prefix: `bytes` is all that is left of it
};

/// `code`: the instruction, of which only its own bytes are read; `count`: the RCX register.
[[nodiscard]] Operand operand_at(const std::uint8_t* code, std::uint64_t count) noexcept;

}  // namespace nplus1::stubs::access

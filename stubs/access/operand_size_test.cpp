#include "stubs/access/operand_size.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nplus1::stubs::access {
namespace {

std::uint64_t bytes_of(std::vector<std::uint8_t> code, std::uint64_t count = 0) {
  code.resize(16);
  return operand_at(code.data(), count).bytes;
}

TEST(OperandSize, OfMovesIsThatOfTheirRegisters) {
  EXPECT_EQ(bytes_of({0x8a, 0x07}), 1U);        // mov (%rdi), %al
  EXPECT_EQ(bytes_of({0x66, 0x8b, 0x07}), 2U);  // mov (%rdi), %ax
  EXPECT_EQ(bytes_of({0x8b, 0x07}), 4U);        // mov (%rdi), %eax
  EXPECT_EQ(bytes_of({0x48, 0x8b, 0x07}), 8U);  // mov (%rdi), %rax
  EXPECT_EQ(bytes_of({0xc6, 0x07, 0x01}), 1U);  // movb $1, (%rdi)
  EXPECT_EQ(bytes_of({0x0f, 0xb6, 0x07}), 1U);  // movzbl (%rdi), %eax
  EXPECT_EQ(bytes_of({0x0f, 0xb7, 0x07}), 2U);  // movzwl (%rdi), %eax
}

TEST(OperandSize, OfVectorsIsTheirLengthAndOfScalarsOneElement) {
  EXPECT_EQ(bytes_of({0xf2, 0x0f, 0x10, 0x07}), 8U);               // movsd (%rdi), %xmm0
  EXPECT_EQ(bytes_of({0xf3, 0x0f, 0x10, 0x07}), 4U);               // movss (%rdi), %xmm0
  EXPECT_EQ(bytes_of({0x0f, 0x28, 0x07}), 16U);                    // movaps (%rdi), %xmm0
  EXPECT_EQ(bytes_of({0x66, 0x0f, 0x6f, 0x07}), 16U);              // movdqa (%rdi), %xmm0
  EXPECT_EQ(bytes_of({0x66, 0x0f, 0xd6, 0x07}), 8U);               // movq %xmm0, (%rdi)
  EXPECT_EQ(bytes_of({0xc5, 0xfb, 0x10, 0x07}), 8U);               // vmovsd (%rdi), %xmm0
  EXPECT_EQ(bytes_of({0xc5, 0xfc, 0x10, 0x07}), 32U);              // vmovups (%rdi), %ymm0
  EXPECT_EQ(bytes_of({0x62, 0xf1, 0x7c, 0x48, 0x10, 0x07}), 64U);  // vmovups (%rdi), %zmm0
  EXPECT_EQ(bytes_of({0xc4, 0xe2, 0xf1, 0x99, 0x07}), 8U);         // vfmadd132sd (%rdi), %xmm1, %xmm0
}

TEST(OperandSize, OfRepeatedStringsIsAllThatIsLeft) {
  EXPECT_EQ(bytes_of({0xf3, 0xa4}, 4096), 4096U);    // rep movsb
  EXPECT_EQ(bytes_of({0xf3, 0x48, 0xab}, 10), 80U);  // rep stosq
  const std::uint8_t code[] = {0xf3, 0x48, 0xa5};    // rep movsq
  EXPECT_TRUE(operand_at(code, 3).repeats);
  EXPECT_EQ(bytes_of({0xa4}, 4096), 1U);  // movsb
}

}  // namespace
}  // namespace nplus1::stubs::access

// Whether the kernel took the processor from this thread in the meantime, without a system call: one store when an
// interval begins, one load when it ends.
//
// glibc (2.35 and later) registers an area for restartable sequences for each thread (rseq(2)). When the kernel resumes a
// thread that it preempted, moved or sent a signal, it looks at the area's `rseq_cs`; if that names a sequence which the
// thread is not in, the kernel writes 0 there, and that is all it does. arm() names a sequence that no thread is ever in.
// A sleep that the thread asked for counts as well: arm() after it. Interrupts that the thread goes on after do not
// count, nor what a hypervisor takes.
//
// A program with sequences of its own (tcmalloc's per-CPU caches) stores its own descriptor whenever it enters one; it
// then says nothing (kUnknown), and its sequences work as ever. For the calling thread; async-signal-safe.
#pragma once

#include <cstdint>

namespace nplus1::stubs {

enum class Disturbance : std::uint8_t { kUnknown, kNone, kPreempted };

/// Whether it can be told at all: glibc has registered its area, on x86-64.
[[nodiscard]] bool tells_preemption() noexcept;
/// An interval begins. Nothing where it cannot be told.
void arm_preemption() noexcept;
/// What has happened since.
[[nodiscard]] Disturbance preemption() noexcept;

}  // namespace nplus1::stubs

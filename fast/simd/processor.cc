#include "fast/simd/processor.h"

#include <hwy/detect_compiler_arch.h>

#include <atomic>

namespace sextant::fast {
namespace {

// Called once: in a virtual machine, cpuid takes as long as a small kernel.
bool Detect() {
#if HWY_ARCH_X86
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

std::atomic<bool> allowed = true;

}  // namespace

bool HasBF16Instruction() noexcept {
  static const bool has = Detect();
  return has && allowed.load(std::memory_order_relaxed);
}

void AllowBF16InstructionForTest(bool allow) { allowed = allow; }

}  // namespace sextant::fast

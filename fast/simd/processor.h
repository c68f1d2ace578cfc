// What a processor may have that Highway 1.0.3 does not know.
#pragma once

namespace sextant::fast {

// True if AVX3 kernels may use AVX512_BF16, whose one instruction rounds two vectors to bf16.
bool HasBF16Instruction() noexcept;

// Like Highway's SetSupportedTargetsForTest: without the instruction a test runs the other branch.
void AllowBF16InstructionForTest(bool allow);

}  // namespace sextant::fast

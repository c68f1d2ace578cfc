// Processor features that Highway 1.0.3 does not detect.
#pragma once

namespace sextant::fast {

// True if AVX3 kernels may use AVX512_BF16, which rounds two vectors to bf16 in one instruction.
bool HasBF16Instruction() noexcept;

// Lets a test run the branch without the instruction, like Highway's SetSupportedTargetsForTest.
void AllowBF16InstructionForTest(bool allow);

}  // namespace sextant::fast

#include "reference/block/decoder_block_normed.h"

#include "fast/block/decoder_block.h"
#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"

namespace sextant::fast {
namespace {

Tensors RunDecoderBlockNormed(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<DecoderBlockNormed>(c);
  return RunBlockCase(op, op.qk_norm, c.dtype(), inputs);
}

}  // namespace

template <>
CaseKernel MakeKernel<DecoderBlockNormed>() {
  return {DeclinesMixedTypes, RunDecoderBlockNormed};
}

}  // namespace sextant::fast

#include "reference/block/decoder_block.h"

#include "reference/block/decoder_block_formula.h"
#include "reference/case/operation.h"

namespace sextant {

template <class Real>
void DecoderBlock::operator()(const Tensor<Real>& x, const Tensor<double>& position,
                              const BlockWeights<Real>& weights,
                              const BlockOutputs<Real>& outputs) const {
  DecoderBlockFormula<Real>(*this, position, weights, outputs).Run(x);
}

template <>
std::unique_ptr<Operation> MakeOperation<DecoderBlock>() {
  return Wrap<DecoderBlock>();
}

}  // namespace sextant

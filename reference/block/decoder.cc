#include "reference/block/decoder.h"

#include "reference/block/decoder_formula.h"
#include "reference/case/operation.h"

namespace sextant {

void Decoder::Check() const {
  DecoderBlockAttributes::Check();
  if (logit_cap && !(*logit_cap > 0))
    throw Error("logit_cap is ", *logit_cap, ", expected more than 0");
}

template <class Real>
void Decoder::operator()(const Tensor<double>& token, const Tensor<double>& position,
                         const DecoderWeights<Real>& weights, Tensor<Real>& logits,
                         Tensor<Real>& states) const {
  const auto run = [&](const Tensor<Real>& x, const BlockWeights<Real>& w,
                       const BlockOutputs<Real>& out) {
    DecoderBlockFormula<Real>(*this, position, w, out).Run(x);
  };
  const Tensor<Real> last = RunBlocks(*this, token, weights, states, run);
  ToLogits(*this, Normed(Norm(), last, weights.last_norm), weights.head, logits);
}

template <>
std::unique_ptr<Operation> MakeOperation<Decoder>() {
  return Wrap<Decoder>();
}

}  // namespace sextant

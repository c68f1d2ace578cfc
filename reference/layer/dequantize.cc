#include "reference/layer/dequantize.h"

#include "reference/case/operation.h"
#include "reference/layer/code_blocks.h"
#include "reference/number/real.h"

namespace sextant {

template <class Real>
void Dequantize::operator()(const Tensor<double>& codes, const Tensor<Real>& scale,
                            Tensor<Real>& y) const {
  const ScopedStep at(Step::kScale);
  for (size_t n = 0; n < codes.shape[0]; ++n)
    for (size_t g = 0; g < codes.shape[2]; ++g)
      ForBlock(codes.shape, n, g,
               [&](size_t flat) { y.data[flat] = Real(codes.data[flat]) * scale(n, g); });
}

template <>
std::unique_ptr<Operation> MakeOperation<Dequantize>() {
  return Wrap<Dequantize>();
}

}  // namespace sextant

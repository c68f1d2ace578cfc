#include "reference/layer/dequantize.h"

#include "reference/case/operation.h"
#include "reference/layer/code_blocks.h"
#include "reference/number/real.h"

namespace sextant {

template <class Real>
void Dequantize::operator()(const Tensor<double>& codes, const Tensor<Real>& scale,
                            const Tensor<Real>* tensor_scale, Tensor<Real>& y) const {
  const ScopedStep at(Step::kScale);
  // A code times its scale alone is exact in f32: this order errs more than the other one.
  const auto factor = [&](size_t n, size_t g) {
    return tensor_scale ? scale(n, g) * (*tensor_scale)(0) : scale(n, g);
  };
  for (size_t n = 0; n < codes.shape[0]; ++n)
    for (size_t g = 0; g < codes.shape[2]; ++g)
      ForBlock(codes.shape, n, g,
               [&, by = factor(n, g)](size_t flat) { y.data[flat] = Real(codes.data[flat]) * by; });
}

template <>
std::unique_ptr<Operation> MakeOperation<Dequantize>() {
  return Wrap<Dequantize>();
}

}  // namespace sextant

#include "reference/layer/dequantize.h"

#include "reference/case/operation.h"
#include "reference/layer/code_blocks.h"
#include "reference/layer/zero_points.h"
#include "reference/number/any_of.h"
#include "reference/number/real.h"

namespace sextant {

namespace {

// In any order.
template <class Real>
Real Product(const Real& a, const Real& b, const Real& c) {
  return AnyOf(a * (b * c), {a * b * c, a * c * b});
}

}  // namespace

void Dequantize::CheckTypes(const std::map<std::string, DType>& given) const {
  if (with.Has("zero")) ExpectIntegers("zero", "codes", given);
}

template <class Real>
void Dequantize::operator()(const Tensor<double>& codes, const Tensor<Real>& scale,
                            const Tensor<Real>* tensor_scale, const Tensor<Real>* zero,
                            Tensor<Real>& y) const {
  const ScopedStep at(Step::kScale);
  for (size_t n = 0; n < codes.shape[0]; ++n) {
    for (size_t g = 0; g < codes.shape[2]; ++g) {
      const double from = ZeroAt("zero", zero, n, g);
      ForBlock(codes.shape, n, g, [&](size_t flat) {
        const Real code(codes.data[flat] - from), &of_block = scale(n, g);
        y.data[flat] = tensor_scale ? Product(code, of_block, (*tensor_scale)(0)) : code * of_block;
      });
    }
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<Dequantize>() {
  return Wrap<Dequantize>();
}

}  // namespace sextant

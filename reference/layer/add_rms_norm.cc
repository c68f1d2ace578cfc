#include "reference/layer/add_rms_norm.h"

#include "reference/layer/rms_norm.h"
#include "reference/number/double_double/double_double.h"
#include "reference/number/rounded/rounded.h"
#include "reference/prove/rounding_operation.h"

namespace sextant {
namespace {

// The input of the norm. `sum` is x + residual rounded to `rounded_dtype`, as it is stored; the
// norm reads it in step keep, whose format may be wider than `rounded_dtype`.
template <class Real>
Real NormInput(double, double, double sum, DType rounded_dtype) {
  return Real(sum, rounded_dtype);
}
template <>
Counted NormInput(double, double, double sum, DType rounded_dtype) {
  return CurrentRule().exact ? Counted(sum, rounded_dtype) : Counted::RoundedTo(sum, rounded_dtype);
}
template <>
Rounded NormInput(double x, double residual, double sum, DType rounded_dtype) {
  const StepRule& rule = CurrentRule();
  if (rule.exact || Contains(rounded_dtype, rule.format)) return Rounded(sum, rounded_dtype);
  return Rounded(x) + Rounded(residual);
}

}  // namespace

void AddRmsNorm::Check() const { RmsNorm{.eps = eps, .unit_offset = unit_offset}.Check(); }

template <class Real>
void AddRmsNorm::operator()(const Tensor<double>& x, const Tensor<double>& residual,
                            const Tensor<Real>& weight, Tensor<Real>& y, Tensor<Real>& sum) const {
  Tensor<Real> norm_input = sum;
  for (size_t i = 0; i < x.data.size(); ++i) {
    const double a = x.data[i], b = residual.data[i],
                 rounded = RoundTo(rounded_dtype, TwoSum(a, b));
    sum.data[i] = Real(rounded, rounded_dtype);
    const ScopedStep at(Step::kKeep);
    norm_input.data[i] = NormInput<Real>(a, b, rounded, rounded_dtype);
  }
  RmsNorm{.eps = eps, .unit_offset = unit_offset}(norm_input, weight, y);
}

template <>
std::unique_ptr<Operation> MakeOperation<AddRmsNorm>() {
  return std::make_unique<RoundingOperation<AddRmsNorm>>();
}

}  // namespace sextant

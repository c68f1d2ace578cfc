#include "reference/layer/add_rms_norm.h"

#include "reference/layer/rms_norm.h"
#include "reference/number/double_double.h"
#include "reference/number/rounded.h"
#include "reference/prove/keeping.h"

namespace sextant {
namespace {

// The input of the norm. `sum` is x + residual rounded to `kept`, as it is stored; the norm reads
// it in step keep, whose format may be wider than `kept`.
template <class Real>
Real NormInput(double, double, double sum, DType kept) {
  return Real(sum, kept);
}
template <>
Counted NormInput(double, double, double sum, DType kept) {
  return CurrentRule().exact ? Counted(sum, kept) : Counted::RoundedTo(sum, kept);
}
template <>
Rounded NormInput(double x, double residual, double sum, DType kept) {
  const StepRule& rule = CurrentRule();
  if (rule.exact || Contains(kept, rule.format)) return Rounded(sum, kept);
  return Rounded(x) + Rounded(residual);
}

}  // namespace

void AddRmsNorm::Check() const { RmsNorm{.eps = eps, .unit_offset = unit_offset}.Check(); }

template <class Real>
void AddRmsNorm::operator()(const Tensor<double>& x, const Tensor<double>& residual,
                            const Tensor<Real>& weight, Tensor<Real>& y, Tensor<Real>& sum) const {
  Tensor<Real> norm_input = sum;
  for (size_t i = 0; i < x.data.size(); ++i) {
    const double a = x.data[i], b = residual.data[i], rounded = RoundTo(kept, TwoSum(a, b));
    sum.data[i] = Real(rounded, kept);
    const ScopedStep at(Step::kKeep);
    norm_input.data[i] = NormInput<Real>(a, b, rounded, kept);
  }
  RmsNorm{.eps = eps, .unit_offset = unit_offset}(norm_input, weight, y);
}

template <>
std::unique_ptr<Operation> MakeOperation<AddRmsNorm>() {
  return std::make_unique<Keeping<AddRmsNorm>>();
}

}  // namespace sextant

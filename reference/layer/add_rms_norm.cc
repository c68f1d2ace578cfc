#include "reference/layer/add_rms_norm.h"

#include "reference/layer/rms_norm.h"
#include "reference/number/double_double.h"
#include "reference/number/rounded.h"
#include "reference/prove/keeping.h"

namespace sextant {
namespace {

// What the norm reads where x + residual, rounded to `kept`, is `sum`: in step keep, whose format
// may be wider than what is stored.
template <class Real>
Real ReadAs(double, double, double sum, DType kept) {
  return Real(sum, kept);
}
template <>
Counted ReadAs(double, double, double sum, DType kept) {
  return CurrentRule().exact ? Counted(sum, kept) : Counted::RoundedTo(sum, kept);
}
template <>
Rounded ReadAs(double x, double residual, double sum, DType kept) {
  const StepRule& rule = CurrentRule();
  if (rule.exact || Contains(kept, rule.format)) return Rounded(sum, kept);
  return Rounded(x) + Rounded(residual);
}

}  // namespace

void AddRmsNorm::Check() const { RmsNorm{.eps = eps, .unit_offset = unit_offset}.Check(); }

template <class Real>
void AddRmsNorm::operator()(const Tensor<double>& x, const Tensor<double>& residual,
                            const Tensor<Real>& weight, Tensor<Real>& y, Tensor<Real>& sum) const {
  Tensor<Real> read = sum;
  for (size_t i = 0; i < x.data.size(); ++i) {
    const double a = x.data[i], b = residual.data[i], rounded = RoundTo(kept, TwoSum(a, b));
    sum.data[i] = Real(rounded, kept);
    const ScopedStep at(Step::kKeep);
    read.data[i] = ReadAs<Real>(a, b, rounded, kept);
  }
  RmsNorm{.eps = eps, .unit_offset = unit_offset}(read, weight, y);
}

template <>
std::unique_ptr<Operation> MakeOperation<AddRmsNorm>() {
  return std::make_unique<Keeping<AddRmsNorm>>();
}

}  // namespace sextant

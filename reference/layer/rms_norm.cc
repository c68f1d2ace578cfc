#include "reference/layer/rms_norm.h"

#include <algorithm>

#include "reference/case/array_operation.h"
#include "reference/layer/normed_row.h"

namespace sextant {
namespace {

template <class Real>
std::vector<Real> FactorsOf(const std::vector<Real>& weight, bool unit_offset) {
  const ScopedStep at(Step::kWeigh);
  std::vector<Real> factors;
  factors.reserve(weight.size());
  for (const Real& w : weight) factors.push_back(unit_offset ? Real(1.0) + w : w);
  return factors;
}

}  // namespace

void RmsNorm::Check() const {
  if (eps < 0) throw Error("eps is ", eps, ", expected 0 or more");
}

template <class Real>
void RmsNorm::operator()(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const {
  const size_t M = x.shape[1];
  if (M == 0) return;
  const std::vector<Real> factors = FactorsOf(weight.data, unit_offset);
  for (size_t n = 0; n < x.shape[0]; ++n) {
    const NormedRow<Real> row(std::span(x.data).subspan(n * M, M), Real(eps));
    row.Weigh(factors, std::span(y.data).subspan(n * M, M));
  }
}

namespace {

bool EvaluateRmsNormInArrays(const RmsNorm& op, const Tensors& inputs, CountedOutput& y) {
  const auto& [name, type, x] = inputs[0];
  const size_t M = x.shape[1];
  if (M == 0 || !NormedRow<Counted>::TakesArrays(type)) return false;
  std::vector<Counted> factors;
  if (op.unit_offset) factors = FactorsOf(CountedOf(ExactSpan(inputs[1])), true);
  NormedRow<Counted>::Weights weights = op.unit_offset
                                            ? NormedRow<Counted>::Weights(factors)
                                            : NormedRow<Counted>::Weights(ExactSpan(inputs[1]));
  NormedRow<Counted>::Memory memory(M);
  for (size_t begin = 0; begin < x.data.size(); begin += M) {
    const ExactSpan row{std::span(x.data).subspan(begin, M), type};
    const NormedRow<Counted> normed(row, Counted(op.eps), memory);
    normed.Weigh(weights, From(y.numbers.numbers(), begin));
  }
  y.format = FormatAt(Step::kWeigh);
  y.level_1 = this_context.double_centers;
  return true;
}

}  // namespace

template <>
std::unique_ptr<Operation> MakeOperation<RmsNorm>() {
  return std::make_unique<ArrayOperation<RmsNorm>>(EvaluateRmsNormInArrays);
}

}  // namespace sextant

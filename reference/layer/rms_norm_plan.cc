#include "reference/layer/rms_norm_plan.h"

namespace sextant {

Stage AddRmsNormStages(Plan& p, Stage x, Stage weight, double eps, bool unit_offset) {
  using enum Function;
  const auto square = p.Of("the square", Step::kSquare, kMultiply, {x, x});
  const auto sum = p.Along('M', "the sum of squares", Step::kSum, kSum, square);
  const auto count = p.Along('M', "the divisor of the mean square", Step::kRsqrt, kCount, square);
  const auto mean = p.Of("the mean square", Step::kRsqrt, kDivide, {sum, count});
  const auto under = p.Of("the radicand", Step::kRsqrt, kAdd, {mean, p.Number("eps", eps)});
  const auto root = p.Of("the root", Step::kRsqrt, kSqrt, {under});
  const auto scaled = p.Of("the normed row", Step::kScale, kDivide, {x, root});
  if (unit_offset) {
    const auto one = p.Number("the offset of the weight", 1);
    weight = p.Of("the factor", Step::kWeigh, kAdd, {weight, one});
  }
  return p.Of("y", Step::kWeigh, kMultiply, {scaled, weight});
}

Plan PlanOf(const RmsNorm& op, std::map<char, size_t> extents) {
  Plan p(std::move(extents));
  const auto x = p.Input("x", "NM"), weight = p.Input("the weight", "M");
  p.AddResult(AddRmsNormStages(p, x, weight, op.eps, op.unit_offset));
  return p;
}

}  // namespace sextant

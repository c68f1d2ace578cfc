#include "reference/layer/layer_norm_plan.h"

namespace sextant {

Plan PlanOf(const LayerNorm& op, std::map<char, size_t> extents) {
  using enum Function;
  Plan p(std::move(extents));
  const auto x = p.Input("x", "NM");
  const auto weight = p.Input("the weight", "M"), bias = p.Input("the bias", "M");
  const auto sum = p.Along('M', "the sum for the mean", Step::kSum, kSum, x);
  const auto count = p.Along('M', "the divisor of the mean", Step::kCenter, kCount, x);
  const auto mean = p.Of("the mean", Step::kCenter, kDivide, {sum, count});
  const auto centered = p.Of("the centered row", Step::kCenter, kSubtract, {x, mean});
  const auto square = p.Of("the square", Step::kSquare, kMultiply, {centered, centered});
  const auto squares = p.Along('M', "the sum of squares", Step::kSum, kSum, square);
  const auto terms = p.Along('M', "the divisor of the variance", Step::kRsqrt, kCount, square);
  const auto variance = p.Of("the variance", Step::kRsqrt, kDivide, {squares, terms});
  const auto under = p.Of("the radicand", Step::kRsqrt, kAdd, {variance, p.Number("eps", op.eps)});
  const auto root = p.Of("the root", Step::kRsqrt, kSqrt, {under});
  const auto scaled = p.Of("the normed row", Step::kScale, kDivide, {centered, root});
  const auto weighed = p.Of("the weighed row", Step::kWeigh, kMultiply, {scaled, weight});
  p.AddResult(p.Of("y", Step::kBias, kAdd, {weighed, bias}));
  return p;
}

}  // namespace sextant

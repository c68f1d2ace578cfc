#include "reference/attention/attention_merge_plan.h"

namespace sextant {

Plan PlanOf(const AttentionMerge&, std::map<char, size_t> extents) {
  using enum Function;
  constexpr Step kOf = Step::kSoftmax;
  Plan p(std::move(extents));
  const auto y1 = p.Input("y1", "NE"), lse1 = p.Input("lse1", "N");
  const auto y2 = p.Input("y2", "NE"), lse2 = p.Input("lse2", "N");
  const auto scores = p.Stacked('P', "lse1 and lse2", {lse1, lse2});
  const auto largest = p.Along('P', "the larger lse", kOf, kLargest, scores);
  const auto exponent = p.Of("the exponent of the weight", kOf, kSubtract, {scores, largest});
  const auto term = p.Of("the unnormalized weight", kOf, kExp, {exponent});
  const auto sum = p.Along('P', "the sum of weights", kOf, kSum, term);
  const auto weight = p.Of("the weight", kOf, kDivide, {term, sum});
  const auto parts = p.Stacked('P', "y1 and y2", {y1, y2});
  const auto product = p.Of("the product", Step::kDot, kMultiply, {parts, weight});
  p.AddResult(p.Along('P', "y", Step::kDot, kSum, product));
  const auto logarithm = p.Of("the logarithm of the sum", kOf, kLog, {sum});
  p.AddResult(p.Of("lse", kOf, kAdd, {largest, logarithm}));
  return p;
}

}  // namespace sextant

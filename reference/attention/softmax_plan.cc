#include "reference/attention/softmax_plan.h"

namespace sextant {

Plan PlanOf(const Softmax&, std::map<char, size_t> extents) {
  using enum Function;
  Plan p(std::move(extents));
  const auto x = p.Input("x", "NM");
  const auto largest = p.Along('M', "the largest", Step::kSoftmax, kLargest, x);
  const auto exponent = p.Of("the exponent", Step::kSoftmax, kSubtract, {x, largest});
  const auto term = p.Of("the exponential", Step::kSoftmax, kExp, {exponent});
  const auto sum = p.Along('M', "the sum of exponentials", Step::kSoftmax, kSum, term);
  p.AddResult(p.Of("y", Step::kSoftmax, kDivide, {term, sum}));
  return p;
}

}  // namespace sextant

#include "reference/layer/add_rms_norm_plan.h"

#include "reference/layer/rms_norm_plan.h"

namespace sextant {

Plan PlanOf(const AddRmsNorm& op, std::map<char, size_t> extents) {
  Plan p(std::move(extents));
  const auto x = p.Input("x", "NM"), residual = p.Input("the residual", "NM");
  const auto weight = p.Input("the weight", "M");
  const auto sum = p.Of("the sum", Step::kStore, Function::kAdd, {x, residual});
  p.Edit(sum).stored = op.rounded_dtype;
  p.AddResult(AddRmsNormStages(p, sum, weight, op.eps, op.unit_offset));
  p.AddResult(sum);
  return p;
}

}  // namespace sextant

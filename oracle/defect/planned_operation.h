// An operation that computes an edited plan.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "oracle/defect/defect.h"
#include "reference/plan/plan.h"

namespace sextant::oracle {

// The plan of an operation for inputs of these shapes, and outputs of these dtypes.
using PlanMaker = std::function<Plan(const Operation&, const std::vector<Shape>& inputs,
                                     const std::vector<DType>& outputs)>;
Plan PlanOfCase(const PlanMaker& maker, const Case& c, const Tensors& inputs);
using PlanChange = std::function<void(Plan&)>;

std::map<char, size_t> ExtentsOf(const Operation& operation, const std::vector<Shape>& inputs);

// Op has a function PlanOf(op, extents).
template <class Op>
PlanMaker MakerOf() {
  return [](const Operation& operation, const std::vector<Shape>& inputs,
            const std::vector<DType>& outputs) {
    Op op = dynamic_cast<const TypedOperation<Op>&>(operation).op();
    if constexpr (requires { op.rounded_dtype; }) op.rounded_dtype = outputs[Op::kRoundedOutput];
    return PlanOf(op, ExtentsOf(operation, inputs));
  };
}

// `base` with one edit more. It may be such an operation, or one of which `maker` makes plans.
std::shared_ptr<const Operation> WithEdit(std::shared_ptr<const Operation> base,
                                          const PlanMaker& maker, PlanChange edit);

}  // namespace sextant::oracle

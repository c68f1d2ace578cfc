// An operation that computes an edited plan.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "oracle/defect/defect.h"
#include "reference/plan/plan.h"

namespace sextant::oracle {

// The plan of an operation for inputs of these shapes.
using PlanMaker = std::function<Plan(const Operation&, const std::vector<Shape>& inputs)>;
using Edit = std::function<void(Plan&)>;

std::map<char, size_t> ExtentsOf(const Operation& operation, const std::vector<Shape>& inputs);

// Op has a function PlanOf(op, extents).
template <class Op>
PlanMaker MakerOf() {
  return [](const Operation& operation, const std::vector<Shape>& inputs) {
    return PlanOf(dynamic_cast<const TypedOperation<Op>&>(operation).op(),
                  ExtentsOf(operation, inputs));
  };
}

// `base` with one edit more. It may be such an operation, or one of which `maker` makes plans.
std::shared_ptr<const Operation> WithEdit(std::shared_ptr<const Operation> base,
                                          const PlanMaker& maker, Edit edit);

}  // namespace sextant::oracle

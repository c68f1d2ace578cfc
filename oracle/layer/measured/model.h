// A measured formula as a hypothesis about an answer.
#pragma once

#include <memory>
#include <utility>

#include "oracle/diagnosis/measurement.h"
#include "reference/case/operation.h"

namespace sextant::oracle {

// The operation of the case with the formula `measured`, on the inputs of the case.
template <class Measured>
std::shared_ptr<const Operation> MeasuredOperation(const Case& c, const Measured& measured) {
  const auto operation = std::make_shared<Wrapped<Measured, false>>(measured);
  CopyAttributes(c, *operation);
  return operation;
}
template <class Measured>
Hypothesis MeasuredModel(const Observation& seen, const Measured& measured) {
  return {MeasuredOperation(seen.c, measured), SharedInputs::Of(seen.inputs), seen.recipe};
}

}  // namespace sextant::oracle

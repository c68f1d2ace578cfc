// Deviations that any operation may have: other attributes, and integer inputs (positions) that are
// shifted, clamped, wrapped or scaled.
#pragma once

#include <string>
#include <vector>

#include "oracle/diagnosis/deviation.h"

namespace sextant::oracle {

// A real attribute. `right` is its value in the case; `phrase` is followed by a number.
Deviation RealAttribute(const std::string& name, const std::string& phrase, double right,
                        std::vector<NamedValue> likely);
// The same for an attribute that is an integer: the nearest one.
Deviation IntegerAttribute(const std::string& name, const std::string& phrase, int64_t right);
// An attribute with one of several texts: each `text` is an argument of Operation::Set.
Deviation AttributeText(const std::string& name, const std::string& phrase,
                        const std::vector<std::string>& texts);

// The attributes of the case whose numbers or choices are known to differ between implementations.
std::vector<Deviation> AttributeDeviations(const Case& c);
// All inputs of the case that are integers.
std::vector<Deviation> PositionDeviations(const Tensors& inputs);

// Both, for an operation without deviations of its own; with `more`, and rare ones `alone`.
std::vector<Explanation> MeasureAttributes(const Observation& seen);
std::vector<Explanation> MeasureAttributesAnd(const Observation& seen,
                                              const std::vector<Deviation>& more,
                                              const std::vector<Deviation>& alone = {});

}  // namespace sextant::oracle

// Deviations that any operation may have, derived from its declaration: another real number,
// integer or choice as an attribute, and inputs of integers (positions, tokens) that are shifted,
// clamped, wrapped or scaled (vocabulary/index_maps.h).
#pragma once

#include <string>
#include <vector>

#include "oracle/diagnosis/deviation.h"

namespace sextant::oracle {

// A real attribute. `right` is its value in the case; `phrase` is followed by a number.
Deviation RealAttribute(const std::string& name, const std::string& phrase, double right,
                        std::vector<NamedValue> likely);
// An attribute with one of several texts: each `text` is an argument of Operation::Set.
Deviation AttributeText(const std::string& name, const std::string& phrase,
                        const std::vector<std::string>& texts);

// Every attribute of the case that is set, and every input of integers. `own`: deviations that come
// first; of their factors there are no others.
std::vector<Deviation> AndAttributes(std::vector<Deviation> own, const Case& c,
                                     const Tensors& inputs);

// What these explain alone and in pairs: the measurement of operations without one of their own.
std::vector<Explanation> MeasureAttributes(const Observation& seen);
// What each explains alone, which is asked of every operation if its measurements find nothing.
std::vector<Explanation> MeasureEachAttribute(const Observation& seen);

}  // namespace sextant::oracle

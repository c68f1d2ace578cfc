// Defects and properties of operations that compare the positions of queries and keys.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/property/property.h"

namespace sextant::oracle {

// Defects of the inputs `query_position` and `key_position`.
std::vector<Defect> QueryKeyDefects();

// The inputs with `by` added to all positions.
Tensors WithShiftedPositions(Tensors inputs, double by);

// Only differences of positions matter.
Property TranslationInvariant();

}  // namespace sextant::oracle

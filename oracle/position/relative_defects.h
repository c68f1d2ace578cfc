// Bugs of whatever compares the positions of queries and keys, and properties of it.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/property/property.h"

namespace sextant::oracle {

// Of the inputs `query_position` and `key_position`.
std::vector<Defect> QueryKeyDefects();

// Both positions `by` later.
Tensors Later(Tensors inputs, double by);

// Only the difference of the positions counts.
Property TranslationInvariant();

}  // namespace sextant::oracle

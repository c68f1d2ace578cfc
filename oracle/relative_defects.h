// Bugs of whatever compares the positions of queries and keys, and laws of it.
#pragma once

#include <string>
#include <vector>

#include "oracle/defect.h"
#include "oracle/property.h"

namespace sextant::oracle {

// Of the inputs `query_position` and `key_position`.
std::vector<Defect> QueryKeyDefects();

// One input changed, whatever the case.
Defect ChangedInput(std::string name, std::string why, std::string input,
                    void (*change)(Tensor<double>&));

// Both positions `by` later.
Tensors Later(Tensors inputs, double by);

// Only the difference of the positions counts.
Property TranslationInvariant();

}  // namespace sextant::oracle

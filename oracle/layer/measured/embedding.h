// Measured embeddings: which row of the table each token reads, and its scale.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

std::vector<Measurement> EmbeddingMeasurements();

}  // namespace sextant::oracle

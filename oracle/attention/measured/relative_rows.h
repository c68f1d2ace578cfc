// Wrong rows of the tables of relative positions.
#pragma once

#include <vector>

#include "oracle/diagnosis/deviation.h"

namespace sextant::oracle {

// Other distances, of both tables.
std::vector<Deviation> DistancesOfTables(const Observation& seen);
// Rare ones: rows of one table alone, or of keys on one side of the query; and the terms of the key
// table are products with other rows, or missing.
std::vector<Deviation> RowsOfTables(const Observation& seen);

}  // namespace sextant::oracle

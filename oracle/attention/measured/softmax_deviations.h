// Deviations of the softmax in attention.
#pragma once

#include <vector>

#include "oracle/attention/measured/rows.h"
#include "oracle/diagnosis/deviation.h"

namespace sextant::oracle {

// Each of the masks with a finite score for masked keys: a query without keys then gives the mean
// of all values. Only masks that leave a query without keys. With a sink such a query does not give
// the mean; an answered lse says which number the score is, and is not predicted.
std::vector<Deviation> MeansWithoutKeys(const Case& c, const std::vector<Deviation>& masks,
                                        const WithParts& with_parts);

// The sums of a tile are not multiplied again when a later tile has a larger score.
Deviation UnscaledTiles(const Case& c, const WithParts& with_parts);

}  // namespace sextant::oracle

// Parts of an answer that a deviation of few elements, rows or columns may leave as they are, so
// that another deviation can be measured there.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// Each as permitted errors that are NaN outside of the part. In every part elements fail, and no
// two parts are the same:
// - the elements that are not the most frequent number, or minus it; those that are not an input
// - on each axis: all but the first index, or the last one; either half; every other index; the
//   first index alone
// - four parts of the rows: single elements are seldom in all of them
std::vector<std::vector<PermittedTensor>> PartsOf(const Observation& seen);

}  // namespace sextant::oracle

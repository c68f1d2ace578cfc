// The same question asked twice: threads that race, memory that is not initialised.
#pragma once

#include <string>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// "the same question gave another answer: 12 of 4096 elements differ". Differences within the
// permitted errors do not count: sums may have another order each time. Empty if the subject cannot
// be asked again, or if its answers do not vary (Subject::may_vary).
std::string DifferenceOfSecondAnswer(const Observation& seen);

}  // namespace sextant::oracle

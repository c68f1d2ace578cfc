// Checks promises of equal bits (oracle/property/bitwise.h) on the cases of a subject.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "oracle/property/property_run.h"
#include "oracle/subject/subject.h"
#include "tools/api/selection.h"

namespace sextant::tools {

// The verdict on one promise in the cases of one operation. Its cases are questions with rows of
// another one; a promise that says nothing about any case is declined.
struct BitwiseVerdict {
  std::string operation;
  oracle::PropertyVerdict verdict;
};

// Asks each case, and questions with rows of it; in two new processes, if promises need it, in the
// second one on one processor. `promises`: empty for all. The verdicts of an operation follow each
// other, in the order of the promises.
// Throws Error.
std::vector<BitwiseVerdict> CheckBitwise(const std::vector<Selected>& cases,
                                         const oracle::Subject& subject,
                                         const std::vector<std::string>& promises, uint64_t seed);

}  // namespace sextant::tools

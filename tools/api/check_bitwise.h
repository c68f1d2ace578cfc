// Checks promises of equal bits (oracle/property/bitwise.h) on the cases of a subject.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "oracle/subject/subject.h"
#include "tools/api/selection.h"

namespace sextant::tools {

// What became of one promise in the cases of one operation.
struct BitwiseVerdict {
  std::string operation, promise, sentence;
  size_t compared = 0;    // questions with rows of another one
  size_t declined = 0;    // further ones
  std::string case_line;  // of the first question that breaks it; empty: none does
  std::string how, difference;
  std::string error{};  // it could not be run
};

// Asks each case, and questions with rows of it; in two new processes, if promises need it, in the
// second one on one processor. `promises`: empty for all. The verdicts of an operation follow each
// other, in the order of the promises; one that says nothing about any case has compared nothing.
// Throws Error.
std::vector<BitwiseVerdict> CheckBitwise(const std::vector<Selected>& cases,
                                         const oracle::Subject& subject,
                                         const std::vector<std::string>& promises, uint64_t seed);

}  // namespace sextant::tools

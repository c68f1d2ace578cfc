// Questions that show whether promises of equal bits are kept (oracle/subject/promises.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/base/splitmix64.h"
#include "reference/case/case.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {

// A question with rows of another one: these have the same exact values in both.
struct BitwiseQuestion {
  std::string_view promise;
  std::string how;  // "alone: B=1"
  Case c;
  Tensors inputs;
  Slice rows, rows_of_whole;  // in this question, and in the other one
};
// Questions with rows of this case, which the promises of that name (or all: empty) are about. Rows
// are cut along axes on which the elements of an output do not depend on their index.
std::vector<BitwiseQuestion> BitwiseQuestions(const Case& c, const Tensors& inputs,
                                              const std::vector<std::string>& promises,
                                              SplitMix64& random);

// The first element with other bits in the rows of two answers: "y[0,3,1]: 0x3f80 (1) and 0x3f81
// (1.0078125); 3 of 64 elements differ", placed in `whole`. Empty if all are equal that the formula
// specifies.
std::string BitDifference(const Case& c, const Tensors& inputs, const Tensors& whole,
                          const Slice& rows_of_whole, const Tensors& other, const Slice& rows);

}  // namespace sextant::oracle

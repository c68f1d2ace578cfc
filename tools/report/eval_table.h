// The answer to one question as a table for people; `sextant eval --json` has every number.
#pragma once

#include <ostream>
#include <vector>

#include "reference/case/case.h"
#include "reference/prove/golden.h"

namespace sextant::tools {

// The case, a line for each input, and a row for each element of the outputs: `value` in the digits
// that name it in its dtype, `exact` (high), and the permitted error. Of long tensors only the
// first elements are shown, and how many there are.
void PrintTable(const Case& c, const Tensors& inputs, const std::vector<GoldenTensor>& golden,
                std::ostream& out);

}  // namespace sextant::tools

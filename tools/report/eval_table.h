// Prints the golden values of one case as a table; `sextant eval --json` prints every number.
#pragma once

#include <ostream>
#include <vector>

#include "reference/case/case.h"
#include "reference/prove/golden.h"

namespace sextant::tools {

// Prints the case, one line for each input, and one row for each element of the outputs: `value` in
// the shortest digits for its dtype, `exact` (high), and the permitted error. Long tensors are cut
// after the first elements; the number of hidden elements is printed.
void PrintTable(const Case& c, const Tensors& inputs, const std::vector<GoldenTensor>& golden,
                std::ostream& out);

// Prints "x f32[2,3]: 0.5 -1 ... (4 more)".
void PrintTensor(const NamedTensor& tensor, std::ostream& out);

}  // namespace sextant::tools

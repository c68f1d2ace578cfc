// Smaller cases with the attributes of a large one: there a search for causes can afford what it
// cannot in the large case, if the subject answers them.
#pragma once

#include <vector>

#include "reference/case/case.h"

namespace sextant::oracle {

// With fewer rows, and with fewer rows and keys, at most 4096 elements in the first output if that
// is enough for it. Widths of rows and numbers of heads that share keys stay: implementations have
// few of them. Inputs are drawn if those of the case do not fit. Empty if none has a quarter of the
// work.
std::vector<Case> SmallerCasesOf(const Case& c);

}  // namespace sextant::oracle

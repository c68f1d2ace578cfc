// What a report says at its end if most cases are unsupported: for whom the cases have other
// shapes than the kernel.
#pragma once

#include <string>
#include <vector>

#include "tools/report/report.h"

namespace sextant::tools {

// A line that counts them; for each operation what its answered cases have in common and which of
// the unsupported ones have it too, or else why they are unsupported; and what can be done. Empty
// if at most half of the cases are unsupported, or if there are fewer than five.
std::vector<std::string> AdviceOf(const Report& report);

}  // namespace sextant::tools

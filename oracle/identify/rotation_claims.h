// Claims about a rotation, from its measured angles. A search over all attributes would have to
// guess layout, axes and frequencies together; measured one after the other, each is seen directly.
#pragma once

#include <string>
#include <vector>

#include "oracle/identify/misfit.h"

namespace sextant::oracle {

// Claims that differ from `asked` in what the exchanges show: pairing, R, offset, direction, base
// and scaling, sections. The shortest come first. Empty if the operation neither rotates
// (RotationIn) nor answers frequencies, or if no layout is possible. `recipe`: of the answers.
std::vector<Claim> RotationClaims(const Claim& asked, const std::vector<Exchange>& exchanges,
                                  const std::string& recipe, int threads);

}  // namespace sextant::oracle

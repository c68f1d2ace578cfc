// Which axis of positions rotates which pair.
#pragma once

#include <vector>

#include "oracle/identify/claim.h"
#include "oracle/identify/measured_rotation.h"

namespace sextant::oracle {

// A claim about sections and their order, and each pair on the axis that it has then.
struct Sectioned {
  Claim claim;
  std::vector<PairOnAxis> pairs;
};

// For every order of sections, those sections with axes that are possible for each pair: a slow
// pair often fits several axes. Those with the smoothest frequencies and the most equal sections
// come first. One claim, that of `asked`, if the operation has no sections; none if nothing was
// measured. `measured`: of each pair, all possible axes.
std::vector<Sectioned> SectionsOf(const Claim& asked,
                                  const std::vector<std::vector<PairOnAxis>>& measured,
                                  size_t axes);

}  // namespace sextant::oracle

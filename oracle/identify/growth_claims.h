// Claims about the growth of xpos: a factor of every pair that grows or falls with the position.
#pragma once

#include <vector>

#include "oracle/identify/claim.h"

namespace sextant::oracle {

// The gain of one pair at one token.
struct GainAt {
  double position, gain, bar;
};

// The claim with role, gamma, scale_base and center as the gains of each pair say, with
//   ln gain_k(p) = +- ln z_k (p - center) / scale_base,  z_k = (k/K + gamma) / (1 + gamma)
// `gains`: [K], of the K pairs. Unchanged if the operation has no such growth, or the gains show
// none. Several claims if they leave several centers, the nearest first: integers.
std::vector<Claim> WithGrowth(Claim claim, const std::vector<std::vector<GainAt>>& gains);

}  // namespace sextant::oracle

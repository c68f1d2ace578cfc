// Claims about rotations by the axes of an image.
#pragma once

#include <vector>

#include "oracle/identify/claim.h"
#include "oracle/identify/measured_rotation.h"

namespace sextant::oracle {

// Claims about the attributes of rope_axial that are free in `asked`: for every window and
// arrangement in which all pairs rotate by their axis, and for each kind of frequencies, with the
// numbers that the measured ones give. Those that are nearest to the measured ones come first.
// `c`: a question, with the attributes that are known.
std::vector<Claim> AxialClaims(const Claim& asked, const Case& c, RotationMeasurer& measurer);

}  // namespace sextant::oracle

// Properties of the operations that rotate their first input x[B,H,S,D] by positions (the second
// input) or by tables (rope_rotate). Source of all: Su et al. 2021, arXiv:2104.09864, section
// 3.4.2.
#pragma once

#include <vector>

#include "oracle/property/property.h"
#include "oracle/rope/rotary_window.h"

namespace sextant::oracle {

// A case of `rope` with the extents of c and the attributes that both operations have.
Case AsRope(const Case& c);

// Properties of every rotation of x, by positions or by tables.
Property ChannelsOutsidePass();
Property LinearInX();
Property PairingsAgree();

// Properties of rotations by positions.
std::vector<Property> PropertiesOfPositions();

}  // namespace sextant::oracle

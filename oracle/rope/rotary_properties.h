// Properties of the operations that rotate their first input x[B,H,S,D] by positions, their second
// one; and by tables: rope_rotate. Source of all: Su et al. 2021, arXiv:2104.09864, section 3.4.2.
#pragma once

#include <vector>

#include "oracle/property/property.h"
#include "oracle/rope/rotary_window.h"

namespace sextant::oracle {

// The case of `rope` that turns as many rows under those of its attributes that c has.
Case AsRope(const Case& c);

// What holds of any rotation of x, whatever turns it.
Property ChannelsOutsidePass();
Property LinearInX();
Property PairingsAgree();

// What holds where positions turn x.
std::vector<Property> PropertiesOfPositions();

}  // namespace sextant::oracle

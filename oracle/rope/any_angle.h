// Rotations by angles that nobody knows: what rounding may do to them.
#pragma once

#include "oracle/property/property.h"

namespace sextant::oracle {

// The answer, with errors that are permitted whatever the angles are. So a property that speaks of
// no angle also holds of subjects that turn by wrong ones: what their roundings commit is not what
// is permitted at the right angle (nothing at position 0).
Response TurnedAnyhow(const Case& c, const Tensors& inputs, const Ask& ask);

}  // namespace sextant::oracle

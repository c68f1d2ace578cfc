// Permitted errors of a rotation by an unknown angle.
#pragma once

#include "oracle/property/property.h"

namespace sextant::oracle {

// The answer, with permitted errors large enough for a rotation by any angle. With these, a
// property that does not depend on the angle also holds for subjects that rotate by a wrong angle:
// their rounding errors may exceed the errors permitted at the right angle (0 at position 0).
Response AskAtAnyAngle(const Case& c, const Tensors& inputs, const Ask& ask);

}  // namespace sextant::oracle

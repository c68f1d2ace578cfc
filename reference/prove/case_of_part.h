// A part of a case as a case of its own.
#pragma once

#include <optional>

#include "reference/prove/slices.h"

namespace sextant {

// The case with the extents of the slice along its letters, which may be any dimensions. Its inputs
// are those of the slice, not those that it draws. Empty if no line of a case says it: an attribute
// has as many numbers as the whole case has sequences, or an axis is shared by others.
std::optional<Case> CaseOfPart(const Case& c, const Slice& part);

}  // namespace sextant

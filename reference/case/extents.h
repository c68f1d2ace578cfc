// What the dimensions of an operation are to it: rows, slices, and how long a suite asks them.
#pragma once

#include <cstdint>
#include <string>

#include "reference/case/operation.h"

namespace sextant {

// Whether an operation hands tensors on: it is made of others, whose suites ask for their long
// rows.
bool IsComposite(const OperationInfo& info);

// Whether a key of `kChoices` or of a case line is a dimension: one capital letter.
bool IsDimension(const std::string& key);

// Whether elements are independent along this dimension (kSlices).
bool IsSlice(const std::string& letter, const OperationInfo& info);

// Whether a longer dimension makes longer rows. Not if only integer or real inputs have it (several
// positions of a token), nor if it counts blocks ("H*D").
bool MakesRows(const std::string& letter, const OperationInfo& info);

// How many elements a slice dimension must be asked with: more than any kernel's block of rows.
inline constexpr int64_t kManySlices = 17;

// How long a dimension must be asked at least; 0: no longer than its choices say.
int64_t LongExtent(const std::string& letter, const OperationInfo& info);

}  // namespace sextant

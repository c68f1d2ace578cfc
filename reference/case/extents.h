// Roles of the dimensions of an operation (rows, slices), and the extents that a test suite needs.
#pragma once

#include <cstdint>
#include <string>

#include "reference/case/operation.h"

namespace sextant {

// True for a composite operation, which has intermediates. The test suites of its parts have the
// long rows.
bool IsComposite(const OperationInfo& info);

// True for an operation that answers codes of what another one computes: likewise.
bool IsFused(const OperationInfo& info);

// True if a key of `kChoices` or of a case line is a dimension: one capital letter.
bool IsDimension(const std::string& key);

// True if elements are independent along this dimension (kSlices).
bool IsSlice(const std::string& letter, const OperationInfo& info);

// True if a larger extent makes rows longer. False if only integer or real inputs have the
// dimension (several positions of a token), and if it counts blocks ("H*D").
bool MakesRows(const std::string& letter, const OperationInfo& info);

// The extent that a test suite needs for a slice dimension: larger than every kernel's block of
// rows.
inline constexpr int64_t kManySlices = 17;

// f32 lanes of the widest vectors.
inline constexpr int64_t kLanes = 16;

// A test suite needs a case with at least this extent; 0: the choices are sufficient.
int64_t LongExtent(const std::string& letter, const OperationInfo& info);

}  // namespace sextant

// The structure of a wrong answer, in every operation: right numbers at wrong places, places that
// were never written, sums with other rows, a factor. Every finding is verified on all elements;
// nothing is evaluated, because everything is compared with the proven values.
#pragma once

#include <string>
#include <vector>

#include "oracle/diagnosis/answer/answered_tensor.h"
#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// A part of an answer that is explained.
struct StructuralFinding {
  // "unwritten", "copied", "moved", "accumulated", "factor", "added", "scattered"
  std::string name;
  std::string sentence;         // "y is 0 at S 12 to 15 (32 of 32 failing elements)"
  size_t output;                // index in the signature
  std::vector<char> explained;  // of each element of the output: 1 if it fails and is explained
  size_t count;                 // how many are
};

// At most one finding for each output. Empty if nothing is known.
std::vector<StructuralFinding> StructureOf(AnsweredTensors& tensors);

// One finding for each wrong output, if each is one number everywhere, or an input; else empty.
// Many formulas predict such an answer by accident: a factor 0.
std::vector<StructuralFinding> NotComputedIn(AnsweredTensors& tensors);

// One finding for each wrong output, if each has only few wrong elements, or if all that are wrong
// are NaN; else empty. No formula is fitted to such answers. `failing`: elements of all outputs.
std::vector<StructuralFinding> SingleElementsIn(AnsweredTensors& tensors, size_t failing);

// The permitted errors without the explained elements: these are NaN, as if a budget left the
// elements out.
std::vector<PermittedTensor> WithoutExplained(const std::vector<PermittedTensor>& permitted,
                                              const std::vector<StructuralFinding>& findings);

}  // namespace sextant::oracle

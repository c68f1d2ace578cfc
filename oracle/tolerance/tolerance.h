// Grades the tolerance that a test has: does it reject right answers, and which known bugs does it
// let pass?
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "reference/prove/budget.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

// As of numpy's and PyTorch's assert_allclose: |answer - expected| <= atol + rtol |expected|.
struct Tolerance {
  double atol = 0, rtol = 0;
  double At(double expected) const { return atol + rtol * std::abs(expected); }
};

// By elements of the required outputs of one case. Expected are the exact values, rounded to the
// dtype of the output: a reference that errs more needs as much more.
struct ToleranceGrade {
  // A listed defect of the operation, or `zeros`, whose answer has an error of more than twice the
  // permitted one (half of them may be those of another rounding of the right formula).
  struct Bug {
    std::string name, why;
    bool passes = false, passes_smallest = false;  // the given tolerance, the smallest one
  };
  // An element, and by how much a right answer may be off what is expected.
  struct Bound {
    std::string where;  // "y[0,1,2]"
    double expected = 0, permitted = 0;
  };
  size_t elements = 0;       // compared
  size_t unspecified = 0;    // depend on a NaN or infinity of the inputs
  size_t unjudgeable = 0;    // these or vacuous: any answer of the right size is permitted
  size_t may_reject = 0;     // the recipe permits more than the tolerance
  size_t likely_reject = 0;  // as do likely errors, of independent roundings (counted.h)
  bool has_likely = false;   // some are smaller than what is permitted, as of long sums
  Bound worst;               // exceeds the tolerance by the largest factor, or comes nearest to it
  double needed_atol = 0;    // with the given rtol the least one that rejects no right answer
  // Of those that reject no right answer the one with the least mean over the elements.
  Tolerance smallest;
  std::vector<Bug> bugs;
  size_t not_tried = 0;            // defects that only show in the whole case, which is too large
  std::optional<Sample> sample{};  // the figures are those of this part; empty: the whole case

  // It rejects no right answer and lets no known bug pass.
  bool IsGood() const {
    return elements > 0 && may_reject == 0 && std::ranges::none_of(bugs, &Bug::passes);
  }
};

// Within the budget of this thread. `needed_atol` and `smallest` are rounded up to two digits.
// Throws Error for an operation that chooses codes or indices: they have no tolerance.
ToleranceGrade GradeTolerance(const Case& c, const Tensors& inputs, const Recipe& recipe,
                              const Tolerance& tolerance, const ProveOptions& options = {});

// Why the operation of a case, which has choices, has no tolerance.
std::string WhyNoTolerance(const Case& c);

// A point for each element: the magnitude of its value, and its largest permitted error.
using MagnitudeAndError = std::pair<double, double>;
// The tolerance with the least mean over the points that is at least the error at each.
Tolerance SmallestTolerance(std::vector<MagnitudeAndError> points);

}  // namespace sextant::oracle

// The elements of an answer whose verdict level 1 of the ladder leaves open (Enclose,
// reference/prove/prove.h). An element that is only enclosed is decided if the exact value and the
// permitted error may lie anywhere within their bounds without changing its grade.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "oracle/judge/tensor_judge.h"

namespace sextant::oracle {

// A grade, and a number that grows with the error among elements of that grade; orders elements by
// how bad they are. As the judge reports the worst element, grades up to kWithin are kWithin.
using Rank = std::pair<Grade, double>;

// Marks the elements that must be proven: those whose grade is open, those that may be the worst of
// their tensor, so that a verdict states proven numbers, and all of a tensor whose worst is
// unlikely. No marks if nothing is to be proven. The outputs fit the case; threads: 0 for all
// cores.
ElementMarks UndecidedIn(const ProvenAndPermitted& reference, const Tensors& outputs, int threads);
// The same for a part of each tensor, if an element elsewhere has the rank `worst`, one for each
// output. Raises it to a lower bound of the worst rank in this part.
ElementMarks UndecidedIn(const ProvenAndPermitted& reference, const Tensors& outputs, int threads,
                         std::vector<Rank>& worst);

// The numbers that decide the rank of an element: the answer, high, low, radius and both bounds.
using ElementNumbers = std::array<double, 6>;

// The ranks of the elements of a tensor whose grade is decided.
struct RankRange {
  Rank least{};          // the largest lower bound
  Rank most{};           // the largest upper bound of those that are only enclosed
  ElementNumbers top{};  // the numbers of an element with that bound
  size_t top_at = 0;     // the first element with these numbers
  Rank next{};           // as `most`, of elements that have other numbers than `top`
  void Include(const RankRange& of);
};
// Marks the elements of the only output whose grade is open. Includes the others in `ranks`.
ElementMarks OpenGradesIn(const ProvenAndPermitted& reference, const Tensors& outputs,
                          RankRange& ranks);

}  // namespace sextant::oracle

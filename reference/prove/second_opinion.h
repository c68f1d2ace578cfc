// A second opinion on goldens: evaluates the formulas again with BoostReal, which shares no code
// with MPFR.
#pragma once

#include <string>
#include <vector>

#include "reference/case/case.h"
#include "reference/prove/golden.h"
#include "reference/prove/prove.h"
#include "reference/prove/slices.h"

namespace sextant {

struct SecondOpinion {
  size_t asked = 0;      // elements that were evaluated again; each is one of the following:
  size_t confirmed = 0;  // `value`, `high` and `low` are correct
  size_t beyond = 0;     // not refuted, but 334 bits do not suffice to confirm
  size_t refuted = 0;    // `value`, `high` or `low` is wrong
  std::string first;     // message for the first refuted element: "golden/y[0,1] is ..., and ..."
};

struct SecondOpinionOptions {
  // Evaluates one in `one_in` slices of a case, and at least one. Slices have about 64 elements, if
  // the case can be cut so finely.
  size_t one_in = 1;
  int threads = 0;  // 0: all cores
  Slice part{};     // the golden has only this part of the case
};

// Evaluates a golden again with Boost.Multiprecision: all elements that are specified and that have
// an enclosure. An element is refuted in two cases. First, if the second opinion x differs from the
// golden by more than the sum of both error bounds:
//   |x - (high + low)| > UnitOfLow(high) / 2 + radius + ErrorOf(x)
// (low is rounded to nearest); a NaN, an infinity, and the sign of a number of which every bit is
// specified, must be the same. Second, if `value` is not the number of its dtype nearest to
// high + low. Otherwise the element is confirmed if ErrorOf(x) is at most UnitOfLow(high) / 2, or
// at most 2^-106 of the largest |high| of its last axis: then x is as accurate as the golden.
SecondOpinion SecondOpinionOn(const Case& c, const InputTensors& inputs,
                              const std::vector<GoldenTensor>& golden,
                              const SecondOpinionOptions& options = {});

}  // namespace sextant

// A second opinion on goldens: the same formulas over BoostReal, which shares no code with the
// proofs.
#pragma once

#include <string>
#include <vector>

#include "reference/case/case.h"
#include "reference/prove/golden.h"

namespace sextant {

struct SecondOpinion {
  size_t asked = 0;      // elements that were evaluated again
  size_t confirmed = 0;  // of these: `value`, `high` and `low` are right
  size_t beyond = 0;     // of these: no word against them, but 334 bits do not suffice to tell
  size_t refuted = 0;    // of these: wrong
  std::string first;     // of the refuted ones: "golden/y[0,1] is ..., expected ..."
};

struct SecondOpinionOptions {
  // Of the slices of a case (of about 64 elements each, where a case can be cut so finely) one in
  // so many is evaluated, and always at least one.
  size_t one_in = 1;
  int threads = 0;  // 0: all cores
};

// Evaluates a golden again with Boost.Multiprecision. Asked are elements that are specified and of
// which the golden has an enclosure. An element is refuted if the second opinion x and the golden
// are farther apart than both can be off:
//   |x - (high + low)| > ulp(low) / 2 + radius + ErrorOf(x)
// because low is rounded to nearest, or if `value` is not the number of its dtype nearest to
// high + low. It is confirmed if moreover ErrorOf(x) is at most ulp(low) / 2 or 2^-106 of the
// largest |high| of its last axis, so that x says as much as the golden does.
SecondOpinion SecondOpinionOn(const Case& c, const Tensors& inputs,
                              const std::vector<GoldenTensor>& golden,
                              const SecondOpinionOptions& options = {});

}  // namespace sextant

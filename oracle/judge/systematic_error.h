// Systematic errors of correct implementations: those of long sums, and the bias of functions.
//
// `likely`, and the mean error in standard errors, assume independent roundings. The roundings of a
// long sum are not independent. If a term t is added to a sum s of terms of one sign, the error is
//   round(t) - t, rounded to whole units in the last place of s,
// which depends on t alone: all terms below half a unit are lost, equal terms have equal errors,
// and the errors of rows of one distribution have the same sign. The only bound for all terms and
// orders is the worst case (n - 1) u; the actual error depends on the terms. So before an answer is
// graded unlikely, the recipe itself answers the same case, with its sums in the orders that
// implementations use. Its errors widen the bounds:
//   element   its error may be `likely` plus the largest error of these answers at that element
//   mean      its magnitude may be twice the largest |mean| of these answers, plus the difference
//             of two permitted errors: with functions accurate to the recipe's ulps, and with
//             correctly rounded functions (errors of functions may have a bias)
// Adding the largest terms first loses most: each term is added to the largest possible sum. The
// factor 2 is needed because for equal or nearly equal terms the error per term is a sawtooth in
// the unit of the sum: it may be near zero in one order and not in another.
// In large cases of which no element is unlikely, the means of these answers are estimated from a
// random part of the slices, and widened by the uncertainty of the estimate.
#pragma once

#include <vector>

#include "oracle/judge/tensor_judge.h"
#include "reference/case/operation.h"

namespace sextant::oracle {

// The operation to evaluate, which may be an alternative of the case's own
// (Operation::Alternatives), with its case, inputs, recipe and options. All must outlive this.
struct Problem {
  const Operation& operation;
  const Case& c;
  const Tensors& inputs;
  const Recipe& recipe;
  const ProveOptions& options;
};

// Same as JudgeTensors, but compares answers graded unlikely with the recipe's own answers.
std::vector<JudgedTensor> JudgeWithSystematicErrors(const Problem& problem,
                                                    const Reference& reference,
                                                    const Tensors& outputs);

}  // namespace sextant::oracle

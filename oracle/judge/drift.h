// What honest implementations err by though no chance is in it: the drift of their sums, and the
// bias of their functions.
//
// `likely`, and the mean of errors in standard errors, suppose that roundings are independent.
// Those of a long sum are not. To a sum s of terms of one sign each term t is added with the error
//   round(t) - t, to whole units in the last place of s,
// which depends on t alone: all terms below half a unit are lost, equal terms err equally, and rows
// of the same distribution err to the same side. No bound but the worst case, (n - 1) u, holds for
// all terms and orders; how much of it shows depends on the terms. So before an answer is called
// unlikely, the recipe itself answers the same question, adding up in the orders that
// implementations use, and what it errs by counts as honest:
//   an element   may err by `likely` and the largest error of these answers there
//   the mean     may be twice the largest mean of these answers; plus, where functions stand, the
//                part of the permitted errors by which functions accurate to the recipe's ulps may
//                err beyond functions that are rounded correctly: nothing says that it is unbiased
// The largest terms first is the order in which most is lost: each term meets a sum as large as any
// order lets it meet. Twice, since among equal or nearly equal terms the error per term is a
// sawtooth of the sum's unit: one order may pass near its zero where another does not.
#pragma once

#include <vector>

#include "oracle/judge/tensor_judge.h"
#include "reference/case/operation.h"

namespace sextant::oracle {

// A question: an operation, which may not be the case's own (Operation::Alternatives), and what it
// is asked. All must outlive this.
struct Asking {
  const Operation& operation;
  const Case& c;
  const Tensors& inputs;
  const Recipe& recipe;
  const ProveOptions& options;
};

// As JudgeTensors; what that calls unlikely is compared with honest answers, which go on from no
// trace: asking.options.own must not be set.
std::vector<JudgedTensor> JudgeWithDrift(const Asking& asking, const Standard& standard,
                                         const Tensors& outputs);

}  // namespace sextant::oracle

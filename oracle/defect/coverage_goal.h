// Coverage goals: kinds of cases that a suite must contain. A suite meets a goal if it catches a
// subject that loses part of its answer in these cases and is correct in all others.
// All goals are generated from the declaration of an operation:
// - Pairwise coverage of long rows: every pair of {dtype, attributes, whole vectors or not} needs a
//   case with a long row. Rows are the last axes, and axes along which elements depend on each
//   other: vector loops and their remainders run along them. Composite operations have no such
//   goals of their own; their parts have them.
// - Axes along which elements are independent need a case with many elements.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/case/case.h"

namespace sextant::oracle {

struct CoverageGoal {
  std::string name;  // "R>=72,dtype=bf16,pairing=half"
  std::string why;   // the bug in a sentence
  // The wrong answers to a case, made from the correct one; empty for other cases.
  std::function<std::vector<Tensors>(const Case&, const Tensors& inputs, const Tensors& correct)>
      losses;
  bool is_pair = false;  // the goal has two conditions (the dtype may be one) beside the length
};

std::vector<CoverageGoal> CoverageGoalsOf(const Operation& operation);

// The same by name. The goals of all operations of reference/case/operations.h are computed once.
const std::vector<CoverageGoal>& CoverageGoalsOf(std::string_view operation);

}  // namespace sextant::oracle

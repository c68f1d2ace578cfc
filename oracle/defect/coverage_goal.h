// Blind spots: kinds of cases that a suite might never ask. A subject that loses its answer there
// and is honest everywhere else must be caught, or the suite has that blind spot.
// All follow from what an operation declares. Rows are made by last axes and by those along which
// elements depend on each other: there vector loops and their remainders run (those of a composite
// operation are its parts'). So long rows must be
// asked for every pair of {dtype, attributes, whole vectors or not}. Axes along which elements are
// independent must be asked with many elements.
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
  // The ways in which an honest answer is lost there; none for other cases.
  std::function<std::vector<Tensors>(const Case&, const Tensors& inputs, const Tensors& honest)>
      losses;
  bool is_pair = false;  // of two conditions, of which the dtype may be one, beside the length
};

std::vector<CoverageGoal> CoverageGoalsOf(const Operation& operation);

// The same by name, made once for every operation of reference/case/operations.h.
const std::vector<CoverageGoal>& CoverageGoalsOf(std::string_view operation);

}  // namespace sextant::oracle

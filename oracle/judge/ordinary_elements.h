// Judges elements that need no special case in vectors, as the functions for single elements do
// (tensor_judge.h, undecided.cc), the same bits: those that conform and are not unlikely, and those
// that clearly fail. What is a special case, and its neighbours in the vector, are left to those
// functions. Private to this folder.
#pragma once

#include <cstddef>

#include "reference/prove/golden.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

// Consecutive elements of one tensor, its reference values and bounds. Does not own them.
struct ComparedRun {
  ComparedRun(const GoldenTensor& golden, const PermittedTensor& bounds, const Tensor<double>& of,
              size_t first, size_t length)
      : dtype(golden.dtype),
        count(length),
        got(&of.data[first]),
        value(&golden.value.data[first]),
        high(&golden.high.data[first]),
        low(&golden.low.data[first]),
        radius(&golden.radius.data[first]),
        permitted(&bounds.error.data[first]),
        likely(&bounds.likely.data[first]),
        vacuous(&bounds.vacuous[first]) {}
  DType dtype;
  size_t count;
  const double *got, *value, *high, *low, *radius, *permitted, *likely;
  const char* vacuous;
};

enum class How : char { kConforms, kFails, kLeft };  // of one element; kLeft: not judged

// The elements that are not left.
struct OrdinaryVerdict {
  size_t judged = 0, failed = 0;       // their number
  bool exact = true, faithful = true;  // the grade of each that conforms is not worse
  double most = -1;                    // the largest error / permitted error of those that fail
  size_t most_at = 0;                  // the first such element
};
// Judges elements that conform, are not unlikely, and whose error / permitted error is at most
// `worst`, and elements that clearly fail. Sets how[k] of each element, and relative[k] to its
// signed error / permitted error. If how[k] is not kLeft, the permitted error is above 0.
OrdinaryVerdict JudgeOrdinary(const ComparedRun& run, double worst, double* relative, How* how);

// Error / permitted error of the elements that are not left; -1 if all are.
struct OrdinaryRatios {
  double least = -1;   // the largest lower bound of those that conform
  double most = -1;    // the largest upper bound of those of them that are only enclosed
  size_t most_at = 0;  // the first element with that bound
  double next = -1;    // as `most`, of elements that differ from that one in some number
  double failing_least = -1, failing_most = -1;  // the same of those that fail, all enclosed
  size_t failing_most_at = 0;
};
// Sets left[k] to 0 if the grade of element k is decided although it may be only enclosed, and not
// unlikely, and an error that is only enclosed clearly fails if it fails; else to 1.
OrdinaryRatios DecideOrdinary(const ComparedRun& run, char* left);

}  // namespace sextant::oracle

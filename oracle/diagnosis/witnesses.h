// Witnesses: the slices of a wrong answer to which models are fitted, and on which they are tested.
// A case that cannot be cut has two, of different rows.
#pragma once

#include <span>
#include <vector>

#include "oracle/diagnosis/measurement.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {

struct Witness {
  Slice slice;
  // One tensor per output of the signature, empty if it was not answered. `units` are the permitted
  // errors; NaN: the element is not compared.
  std::vector<Tensor<double>> answer, units;
  size_t failing = 0;   // elements
  double distance = 0;  // of the right answer (DistanceOf)
  double worst = 0;     // the largest error of an element / its permitted error
};

struct Witnesses {
  std::vector<Witness> fit, test;                   // those of `fit` fail, the worst is the first
  size_t failing_slices = 0, failing_elements = 0;  // in both; rows of a case that is not cut
};
// `elements`: of a slice, about; 0: few.
Witnesses WitnessesOf(const Observation& seen, size_t elements = 0);
Witness WitnessOf(const Observation& seen, const Slice& slice);

// (answer - prediction) / permitted error of every compared element, in order. An element of which
// only one of both is finite has an infinite residual.
std::vector<double> ResidualsOf(const Observation& seen, const Hypothesis& model,
                                const Witness& witness);
// The sum of their magnitudes.
double DistanceOf(const Observation& seen, const Hypothesis& model, const Witness& witness);
// The same of several witnesses; stops when it exceeds `limit`.
double DistanceOf(const Observation& seen, const Hypothesis& model,
                  std::span<const Witness> witnesses, double limit);

}  // namespace sextant::oracle

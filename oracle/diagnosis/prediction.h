// What a hypothesis predicts for a slice, and how far an answer is from it.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {

// How the prediction is computed. Roundings of the hypothesis' own recipe, or of its formula, show
// only by kRecipe. kExactly is many times as fast in operations with long sums.
enum class By {
  kRecipe,  // every step rounded
  kExactly  // the exact value, rounded once
};

// One tensor per output of the signature; an output that was not answered has no elements.
using Values = std::vector<Tensor<double>>;

// The slice of an answer, with the right prediction and the units in which distances are measured:
// the smaller of the permitted and the likely errors.
struct AnsweredSlice {
  Slice slice;
  Values answer, units;
  Values exact;                            // the proven values, rounded
  std::vector<std::vector<char>> failing;  // 1: the error exceeds the permitted error
  size_t elements = 0, failing_elements = 0;
  double score = 0;  // sum of min(1, |answer - exact| / unit)
};
AnsweredSlice AnsweredSliceOf(const Observation& seen, const Slice& slice);
// The right prediction in the same way.
Values RightValues(const Observation& seen, const AnsweredSlice& part, By by);

// The comparison of an answer with a hypothesis, over any number of slices. An element is decisive
// if the answer fails there, or if the predictions of the hypothesis and of the right formula
// differ by a unit.
struct Comparison {
  bool conforms = true;  // every element is within the bounds of the prediction
  double distance = 0;   // sum of min(1, |answer - prediction| / unit)
  // Of the decisive elements. That of the hypothesis is relative to the distance of the right
  // prediction, if that is larger than a unit.
  double decisive_distance = 0, decisive_distance_of_right = 0;
  size_t elements = 0, failing = 0;  // compared so far
  size_t effects = 0;                // elements where both predictions differ by a unit
  size_t near_failing = 0;           // failing elements nearer than a unit to the prediction

  Comparison& operator+=(const Comparison& other);
  // True if more slices cannot help: the hypothesis is more than half as far as the right formula.
  bool refutes() const;
  bool explains() const { return !refutes() && decisive_distance_of_right > 0; }
};

struct Comparing {
  By by = By::kRecipe;
  // False if no element of the case fails: then every difference of the predictions is decisive.
  bool some_fail = true;
  // Not null: the sums of earlier slices. If the hypothesis is refuted together with them, its
  // bounds are not evaluated.
  const Comparison* before = nullptr;
};

// Compares the answer with the prediction of `hypothesis`. `right` is computed in the same way.
// Bounds: by kRecipe twice the permitted error, once for the answer and once for the prediction; by
// kExactly once.
Comparison Compare(const Observation& seen, const AnsweredSlice& part, const Values& right,
                   const Hypothesis& hypothesis, const Comparing& how = {});

}  // namespace sextant::oracle

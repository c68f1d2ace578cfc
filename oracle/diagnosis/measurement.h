// Measurements: what a subject computes, from the questions and answers alone. A measurement fits
// a model to an answer that fails. Its explanation is a sentence with figures, and the model as a
// hypothesis: whoever asked for the measurement verifies that the model predicts the answer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/subject/subject.h"
#include "reference/prove/golden.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

class Evidence;

// How causes of an answer are looked for. Does not own anything.
struct Searching {
  const Subject* subject = nullptr;  // may be asked more questions; null: gives no more answers
  // What searches for two deviations may still evaluate, all together (deviation.h); null: each as
  // much as it needs.
  size_t* evaluations_left = nullptr;
  // Where a second deviation is looked for, the questions are many, so measurements that take long
  // say less of them, or nothing: is_second in parts (catalog/layers.h), beside an order and beside
  // a precision; is_part also, but not beside an order.
  bool is_second = false, is_part = false;
  Evidence* evidence = nullptr;  // of this answer, if whoever looks has collected it

  // The search of another answer, about which the subject cannot be asked.
  Searching WithoutQuestions() const { return {.evaluations_left = evaluations_left}; }
};

// An answer, and what is known about it. Does not own anything.
struct Observation {
  const Case& c;
  const Tensors& inputs;
  const Recipe& recipe;  // that of the verdict
  // Of each output. Elements that no budget covers have an infinite permitted error.
  const std::vector<GoldenTensor>& golden;
  const std::vector<PermittedTensor>& permitted;
  const Tensors& answer;  // optional outputs may be missing
  Searching how = {};
};

// The same with other permitted errors, as of a part.
inline Observation WithPermitted(const Observation& seen,
                                 const std::vector<PermittedTensor>& permitted,
                                 const Searching& how) {
  return {seen.c, seen.inputs, seen.recipe, seen.golden, permitted, seen.answer, how};
}

struct Explanation {
  std::string name;  // short and stable, as a defect's name: "position_clamped"
  std::string
      sentence;  // with figures: "positions above 32767 act as 32767 (14 of 14 such tokens)"
  // No operation: nothing predicts the answer. The sentence is about the size of errors, verified
  // on all elements, or about a function, seen on some hundred; it is said if nothing else is.
  Hypothesis model;
};

// Empty if the answer says nothing. The most specific explanation is the first. Several that
// predict the same answer are all given.
using Measurement = std::function<std::vector<Explanation>(const Observation&)>;

}  // namespace sextant::oracle

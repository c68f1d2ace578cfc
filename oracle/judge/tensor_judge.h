// Judges the outputs of an answer element by element, and finds elements that could not have
// failed.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oracle/judge/judge.h"

namespace sextant::oracle {

enum class ElementStatus : char {
  // No value is specified: the element depends on a NaN or infinity of the inputs, or a budget
  // leaves it out.
  kUnspecified,
  kOpen,   // a value is specified, but no answer fails, or none of the right size
  kJudged  // the element failed, or another answer would have failed
};

// A grade, and a number that grows with the error among elements of that grade; orders elements by
// how bad they are. As the judge reports the worst element, grades up to kWithin are kWithin.
using Rank = std::pair<Grade, double>;

// What is known of the elements of a row along the last axis.
struct RowStatus {
  bool has_judged = false, has_open = false;
  void Add(ElementStatus status) {
    has_judged |= status == ElementStatus::kJudged;
    has_open |= status == ElementStatus::kOpen;
  }
};

struct JudgedTensor {
  TensorVerdict verdict;
  bool optional = false;  // the subject may omit this output
  Shape shape;
  std::vector<ElementStatus> elements;  // of all; empty if there are `rows`
  std::vector<RowStatus> rows = {};
};

// Reference values and bounds with which an answer is compared.
struct Reference {
  const std::vector<GoldenTensor>& golden;
  const std::vector<PermittedTensor>& permitted;
  // In a trace: the end-to-end reference values, else null. An element that is NaN in `golden` but
  // not here depends on a NaN or infinity of the subject: it is open, not unspecified.
  const std::vector<GoldenTensor>* end_to_end = nullptr;
  // Largest |mean| error that is not `unlikely`, one number per output; empty: 0.
  std::span<const double> correct_bias_bound{};
  // Of the case; null: failing elements are not described by the values of inputs.
  const Tensors* inputs = nullptr;
  int threads = 0;  // 0: all cores
};

// Judges every answered output, in the order of the signature. Precondition: the outputs fit the
// case (DescribeMismatch returns an empty text).
std::vector<JudgedTensor> JudgeTensors(const Case& c, const Reference& reference,
                                       const Tensors& outputs);

// The grade of element i with that error. `likely` includes the radius. `is_within`: the error is
// at most the permitted error.
Grade GradeOf(const GoldenTensor& golden, size_t i, double got, bool is_within, double error,
              double likely);
// True if the error of element i is at most `permitted`, decided exactly (is_within.h).
bool IsPermitted(const GoldenTensor& golden, size_t i, double got, double permitted);
// The same for the errors of the recipe; of a code, whether it is admissible.
bool IsPermitted(const GoldenTensor& golden, const PermittedTensor& permitted, size_t i,
                 double got);
inline bool HasCodes(const PermittedTensor& permitted) {
  return !permitted.before_rounding.empty();
}
// An output of integers is a choice: the error of an index is its excess (golden.h).
inline bool IsIndex(const GoldenTensor& golden) { return golden.dtype == DType::kI64; }
// The least and the largest admissible code.
std::pair<double, double> AdmissibleOf(const GoldenTensor& golden, const PermittedTensor& permitted,
                                       size_t i);

// |got - exact value| of element i; 0 for equal infinities, NaN if no value is specified. Where
// every bit is specified: 0 for a NaN where one is expected.
double ErrorOf(const GoldenTensor& golden, size_t i, double got);

// The reason why a conforming answer is unverified. The message is empty if no row is open: every
// row of every tensor has a judged element, or no specified element.
struct UnverifiedReason {
  std::string message;
  size_t open_row_count = 0;          // of all tensors
  bool open_rows_acceptable = false;  // see Verdict
};
UnverifiedReason UnverifiedReasonOf(const std::vector<JudgedTensor>& tensors);

}  // namespace sextant::oracle

// Compares an answer with the proven values, element by element.
// An element conforms if and only if |answer - exact| <= permitted (so NaN never conforms). Equal
// infinities have error 0; +0 equals -0. Where every bit is specified (golden.h), an element
// conforms if and only if it is the value: then NaN may be the value, and +0 and -0 differ. A code
// (golden.h) conforms if and only if it is admissible: the rounding of a number that the recipe
// permits before that rounding. An index conforms if and only if nothing that was left out exceeds
// it by more than is permitted. The grades of both are exact or within.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reference/case/case.h"
#include "reference/prove/budget.h"
#include "reference/prove/golden.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

struct JudgedTensor;  // oracle/judge/tensor_judge.h

// The grade of a tensor is the grade of its worst element.
enum class Grade {
  kExact,     // every element is the exact value, correctly rounded, and proven
  kFaithful,  // every error is below one ulp of the exact value
  kWithin,    // every error is at most the permitted error of the recipe
  kUnlikely,  // as kWithin, but errors are too one-sided or too large for independent roundings
  kFails
};
inline constexpr std::string_view kGradeNames[] = {"exact", "faithful", "within recipe", "unlikely",
                                                   "fails"};

struct Element {
  std::string where;  // "y[0,1,2]"
  double got = 0, expected = 0, permitted = 0, error = 0;
  double likely = 0;  // probable bound for independent roundings; infinity: not known
  // Of a code: the least and the largest one that the recipe permits.
  std::optional<std::pair<double, double>> admissible{};
  bool is_index = false;  // a choice: `error` is its excess (golden.h)
  size_t index = 0;       // of the element in its tensor, row-major
};

// The places of failing elements on one axis of a tensor: an axis of the signature, or one of the
// axes that derive from it (oracle/judge/failing_indices.h).
struct FailingIndices {
  std::string axis;          // "S", "position", "pair"
  std::string derived_from;  // the axis of the signature from which it derives; else empty
  size_t extent = 0;         // the number of its values
  std::vector<std::pair<int64_t, int64_t>> ranges{};  // first and last value, ascending
  bool everywhere = false;                            // elements fail at every value of the axis
  // Elements without a value on this axis fail too (channels that are in no pair).
  bool elsewhere = false;
};

struct TensorVerdict {
  std::string name;
  size_t elements = 0;
  size_t judged = 0;  // elements for which some answer fails
  size_t failed = 0;
  size_t vacuous = 0;      // permitted error so large that any answer of the right size passes
  size_t unspecified = 0;  // depends on a NaN or infinity of the inputs
  size_t unjudgeable = 0;  // the bound overflows, so NaN and infinity are permitted too
  size_t unlikely = 0;     // error permitted, but above `likely`
  size_t enclosed = 0;     // of the above: not proven, only enclosed; the radius is permitted too
  size_t loose = 0;        // of the enclosed: the radius exceeds 2^-10 of the permitted error
  size_t left_out = 0;     // beyond the budget: not compared (reference/prove/budget.h)
  Grade grade = Grade::kExact;
  std::vector<FailingIndices> failing{};  // of every axis; empty if no element fails
  // The element of the worst grade; among several, of the largest error / permitted error, or error
  // / likely if the grade is kUnlikely.
  Element worst;
  // Signed error / permitted error of judged elements with a permitted error above 0: mean, root
  // mean square, and the mean in standard errors. The standard error counts rows and columns,
  // because their elements may share an error (of a root, of a weight). It is 0 if rows or columns
  // are few, or if all elements share the error of one power (frequencies).
  double bias = 0, spread = 0, bias_in_standard_errors = 0;
  // The largest |mean| expected of correct implementations; 0 unless it was needed
  // (oracle/judge/systematic_error.h).
  double correct_bias_bound = 0;
};

// A likely cause of a failure: a defect that predicts the answer, or what was measured in it.
struct Cause {
  std::string name, why;
  bool is_measured = false;  // not a defect of the catalog: `why` has figures of this answer
  bool is_beside = false;    // explains the answer only together with another deviation, or a part
};

// Other recipes by which a failing answer conforms. A loose recipe permits many bugs.
struct OtherRecipes {
  std::vector<std::string> texts{};  // the narrowest, and other methods of the same step
  // How many times as much the first permits as the recipe of the verdict; 0: not known.
  double width = 0;
  bool have_other_errors = false;  // than the answer (oracle/diagnosis/recipe/own_errors.h)
  std::optional<Sample> sample{};  // the part that was judged by these; empty: as the verdict's
};

struct Verdict {
  enum class Status {
    kConforms,
    kFails,
    kUnverified,   // part of the answer could not fail: see `open_row_count`, or `loose`
    kUnsupported,  // the subject declined
    kCouldNotRun   // crash, time limit, protocol error: the numbers were not judged
  };
  std::string case_line;
  Status status = Status::kConforms;
  std::optional<Grade> grade{};    // of the worst tensor; none if nothing was judged
  std::string message;             // the reason for the status, may be empty
  std::optional<Sample> sample{};  // the part to which the verdict applies; empty: the whole case
  std::vector<TensorVerdict> tensors;
  // Composite operations with answered intermediates only, in order of computation. Each tensor is
  // compared with the result of its operation on the subject's own earlier tensors.
  std::vector<TensorVerdict> trace;
  std::vector<Cause> causes;
  OtherRecipes other_recipes{};
  // Open rows: rows (along the last axis) of answered tensors with at least one specified element,
  // but none that could have failed, neither end to end nor by the trace. One open row makes the
  // case unverified.
  size_t open_row_count = 0;
  // Open rows exist, but every required tensor has a judged element, and none a loose one.
  bool open_rows_acceptable = false;
};

// Judges end to end only: no alternative decision, no trace. `permitted` has one tensor per output,
// with the permitted errors of the recipe.
Verdict JudgeEndToEnd(const Case& c, const std::vector<GoldenTensor>& golden,
                      const std::vector<PermittedTensor>& permitted, const Tensors& outputs);

// Judges answers to one case.
// Roundings of the recipe may change a decision of the formula (Operation::Alternatives). An answer
// conforms if all its elements conform to one variant of the formula. The verdict is that of the
// first variant to which the answer conforms, else that of the formula itself.
// If a composite operation's intermediates were answered, they are traced as well
// (reference/case/intermediate.h), and each tensor of the trace must conform to the same variant.
// The trace verifies elements that could not have failed end to end, but only if every element of
// the answered intermediates could have failed: a result of arbitrary numbers is arbitrary itself.
class Judge {
 public:
  // kPassOrFail: whether the answer conforms is decided and nothing is spent on how likely its
  // errors are: grades may be kUnlikely where kAll finds that an order of summation explains them.
  enum class Grading { kAll, kPassOrFail };
  // Values are proven as far as an answer needs it (Enclose, reference/prove/prove.h).
  Judge(const Case& c, const Tensors& inputs, const Recipe& recipe,
        const ProveOptions& options = {}, Grading grading = Grading::kAll);
  // `golden`: the values of `c`, already proven. A budget leaves out the same elements as of values
  // that are proven here.
  Judge(const Case& c, const Tensors& inputs, const Recipe& recipe,
        std::vector<GoldenTensor> golden, const ProveOptions& options = {},
        Grading grading = Grading::kAll);
  Judge(const Case& c, const Tensors& inputs, const Recipe& recipe, ProvenAndPermitted reference,
        const ProveOptions& options = {}, Grading grading = Grading::kAll);
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;
  // Not to be called by several threads at the same time.
  Verdict Evaluate(const Tensors& outputs) const;
  const std::vector<GoldenTensor>& golden() const { return EndToEnd().golden; }
  const std::vector<PermittedTensor>& permitted() const { return EndToEnd().permitted; }

 private:
  struct Variant;
  using OptionalReference = std::optional<ProvenAndPermitted>;
  void EncloseEndToEnd() const;
  ProvenAndPermitted& EndToEnd() const;
  void Settle(const Tensors& outputs) const;
  OptionalReference OfTrace(const Operation& operation, const Tensors& outputs) const;
  Verdict EvaluateVariant(const Variant& variant, const Tensors& outputs,
                          const OptionalReference& of_trace) const;
  std::optional<Verdict> EvaluateChoices(const ProvenAndPermitted& of_trace,
                                         const Tensors& outputs) const;

  const Case& c_;  // both must outlive this
  const Tensors& inputs_;
  Recipe recipe_;
  ProveOptions options_;
  Grading grading_;
  // End to end. Settle proves more of it. Empty until it is needed for a case with choices: most of
  // their verdicts need that of the trace alone.
  mutable OptionalReference reference_;
  mutable std::mutex mutex_;  // of reference_ until it is there
};

}  // namespace sextant::oracle

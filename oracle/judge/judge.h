// The judge: compares an answer with the proven values, element by element.
// An element conforms if and only if |answer - exact| <= permitted (so NaN never does). Equal
// infinities have error 0; +0 equals -0.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reference/case/case.h"
#include "reference/prove/golden.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

struct JudgedTensor;  // oracle/judge/tensor_judge.h

// How good the worst element is.
enum class Grade {
  kExact,     // every element is the exact value, correctly rounded, and proven
  kFaithful,  // every error is below one ulp of the exact value
  kWithin,    // every error is within what the recipe permits
  kUnlikely,  // within, but honest roundings hardly give it: too one-sided or too far off
  kFails
};
inline constexpr std::string_view kGradeNames[] = {"exact", "faithful", "within recipe", "unlikely",
                                                   "fails"};

struct Element {
  std::string where;  // "y[0,1,2]"
  double got = 0, expected = 0, permitted = 0, error = 0;
  double likely = 0;  // what independent roundings hardly exceed; infinity: not known
};

struct TensorVerdict {
  std::string name;
  size_t elements = 0;
  size_t judged = 0;  // those that could have failed
  size_t failed = 0;
  size_t vacuous = 0;      // permitted error so large that any answer of the right size passes
  size_t unspecified = 0;  // reached by NaN or infinity of the inputs
  size_t unjudgeable = 0;  // the bound overflows: NaN and infinity are permitted, too
  size_t unlikely = 0;     // permitted, but beyond what independent roundings hardly exceed
  size_t enclosed = 0;     // of those above: not proven, only enclosed; the radius is permitted too
  Grade grade = Grade::kExact;
  Element worst;  // of the worst grade; of largest error / permitted, if unlikely / likely
  // Signed error / permitted over judged elements with room: mean, root mean square, and the mean
  // in standard errors. These count rows and columns, whose elements may have an error in common
  // (that of a root, of a weight); 0 where either are few, or where all share the error of a power
  // behind their frequencies.
  double bias = 0, spread = 0, bias_in_standard_errors = 0;
  // How large a mean, to either side, honest implementations may have; 0 unless it was asked for
  // (oracle/judge/drift.h).
  double honest_bias = 0;
};

// A defect that predicts the answer that was given.
struct Cause {
  std::string name, why;
};

struct Verdict {
  enum class Status {
    kConforms,
    kFails,
    kUnverified,   // some of it could not have failed, whatever was answered: see `open_rows`
    kUnsupported,  // the subject declined
    kCouldNotRun   // crash, time limit, bad protocol: no word about its numbers
  };
  std::string case_line;
  Status status = Status::kConforms;
  std::optional<Grade> grade;  // of the worst tensor; none where nothing was judged
  std::string message;         // why, where there is something to say
  std::vector<TensorVerdict> tensors;
  // Of a composite operation whose intermediate tensors were answered, in the order in which they
  // are computed: each judged by what follows from the subject's own tensors before it.
  std::vector<TensorVerdict> trace;
  std::vector<Cause> causes;
  // Rows (along the last axis) of answered tensors in which something is specified, but no element
  // could have failed, neither end to end nor by the trace. One of them makes the case unverified.
  size_t open_rows = 0;
  bool only_rows = false;  // of each required tensor some element could have failed
};

// The verdict end to end alone: no alternative decision, no trace. `permitted` belongs to the
// recipe by which the answer is judged, one tensor per output.
Verdict JudgeEndToEnd(const Case& c, const std::vector<GoldenTensor>& golden,
                      const std::vector<PermittedTensor>& permitted, const Tensors& outputs);

// Judges answers to one case by the truth, and where rounding by the recipe may turn a decision of
// the formula, the truths of the other decision (Operation::Alternatives). An answer conforms if
// all its elements conform to one of them; its verdict is that, else the one by the truth.
// Where a composite operation's intermediate tensors were answered they are traced as well
// (reference/case/intermediate.h), and each step must conform, by whichever truth. The trace
// verifies what could not have failed end to end, but only if every element that the subject handed
// on could have failed: what follows from numbers that may be anything may be anything itself.
class Judge {
 public:
  Judge(const Case& c, const Tensors& inputs, const Recipe& recipe,
        const ProveOptions& options = {});
  // With the truth already proven.
  Judge(const Case& c, const Tensors& inputs, const Recipe& recipe,
        std::vector<GoldenTensor> golden, const ProveOptions& options = {});
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;
  Verdict Evaluate(const Tensors& outputs) const;
  const std::vector<GoldenTensor>& golden() const { return golden_; }
  const std::vector<PermittedTensor>& permitted() const { return permitted_; }

 private:
  struct Truth;
  Verdict By(const Truth& truth, const Tensors& outputs) const;
  std::vector<JudgedTensor> Trace(const Truth& truth, const Tensors& outputs) const;

  const Case& c_;  // both must outlive this
  const Tensors& inputs_;
  Recipe recipe_;
  ProveOptions options_;
  std::vector<GoldenTensor> golden_;
  std::vector<PermittedTensor> permitted_;
};

}  // namespace sextant::oracle

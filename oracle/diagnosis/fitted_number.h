// The number of a deviation, fitted to slices of an answer.
#pragma once

#include <optional>
#include <span>

#include "oracle/diagnosis/deviation.h"
#include "oracle/diagnosis/measured_number.h"
#include "oracle/diagnosis/witnesses.h"

namespace sextant::oracle {

// All searches for two deviations in one answer evaluate so many slices together: about a
// second if the slices are small.
inline constexpr size_t kMostEvaluations = 12000;
// So many input and output elements count as one evaluation. Small cases have fewer in a slice.
inline constexpr size_t kElementsOfEvaluation = 4096;
// One search evaluates at most so many: fewer in a case that cannot be cut, and an eighth in a
// large one (evidence.h), or of a second deviation, of which there are many questions.
size_t MostEvaluations(const Observation& seen);

// The evaluations of slices by a search. Larger slices, and models that copy large inputs, count as
// several.
struct Evaluations {
  size_t most, count = 0;
  bool AreSpent() const { return count >= most; }
};

// What the search counts: the inputs of a model, if it has its own, and the evaluation of a slice.
size_t CostOfInputs(const Hypothesis& base, const Hypothesis& model);
size_t CostOf(const Observation& seen, const Witness& witness);

// The number of a deviation from `base` that is nearest to the answer: first in the first of the
// witnesses, then in all. Empty if there is none, if the answer does not depend on it, or if it
// leaves more than half of the distance of `base`. Counts its evaluations.
std::optional<MeasuredNumber> MeasureNumber(const Observation& seen, const Hypothesis& base,
                                            const Deviation& deviation,
                                            std::span<const Witness> witnesses,
                                            Evaluations& evaluations);

// The short number, or the measured one with its error bar.
NamedValue NamedNumber(const MeasuredNumber& measured);

// All steps may share roundings: eight of them to bf16, the coarsest format, change a factor by
// 8 * 2^-9 at most. Less is a matter of the recipe.
inline constexpr double kSharedRoundings = 8 * 0x1p-9;

}  // namespace sextant::oracle

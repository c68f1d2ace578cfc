// The bounds of mean errors of large answers, estimated from a random part of the slices
// (systematic_error.h). Private to this folder.
#pragma once

#include <functional>
#include <vector>

#include "oracle/judge/bias.h"
#include "oracle/judge/systematic_error.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/prove/case_slices.h"

namespace sextant::oracle {

// Orders with the largest errors come first: the loop ends when the answer is no longer unlikely.
inline constexpr SumOrder kSumOrders[] = {
    {SumOrder::Kind::kForwards, 1}, {SumOrder::Kind::kLargestFirst, 1},
    {SumOrder::Kind::kLanes, 4},    {SumOrder::Kind::kBackwards, 1},
    {SumOrder::Kind::kLanes, 2},    {SumOrder::Kind::kLanes, 8},
    {SumOrder::Kind::kLanes, 16},   {SumOrder::Kind::kLanes, 64},
    {SumOrder::Kind::kBlocks, 8},   {SumOrder::Kind::kBlocks, 64},
    {SumOrder::Kind::kHalves, 1}};
// The factor for orders that are not tried: see systematic_error.h.
inline constexpr double kOtherOrders = 2;

bool IsUnlikely(const JudgedTensor& tensor);
// True if the grade of the whole answer, that of its worst tensor, is kUnlikely.
bool AreUnlikely(const std::vector<JudgedTensor>& tensors);
// True if no element is unlikely, but a mean is, and the case is so large that its bounds are
// estimated.
bool NeedsSample(const Case& c, const std::vector<JudgedTensor>& tensors);

// Adds number / (permitted error + radius) of element i of a part of a tensor, if the element can
// be judged and the number is not NaN. `at`: the index of the element in the whole tensor.
void AddShare(const GoldenTensor& golden, const PermittedTensor& permitted, size_t i, double number,
              size_t at, Bias& bias);
// The part of the error that is due to functions which are not correctly rounded: `permitted` is
// the permitted error, `rounded` that of the recipe with correctly rounded functions.
double ShareOfFunctions(double permitted, double rounded);
Recipe WithRoundedFunctions(Recipe recipe);

// A problem (systematic_error.h) of which slices are read.
struct SlicedProblem {
  const Operation& operation;
  const Case& c;
  TensorReaders inputs;
  const Recipe& recipe;
  int threads;
};

// The reference values and bounds of one slice.
using ReferenceOfSlice = std::function<ProvenAndPermitted(const Slice& slice)>;
// A slice of the reference values of a whole case.
ProvenAndPermitted PartOf(const Reference& reference, const Case& c, const Slice& slice);

// Judges an answer again that was graded unlikely for its means alone. `judge` judges it by other
// bounds of the means, one for each output. Empty if the sample has too few units for a bound.
std::vector<JudgedTensor> JudgeBySample(
    const SlicedProblem& problem, const ReferenceOfSlice& reference_of,
    const std::vector<JudgedTensor>& before,
    const std::function<std::vector<JudgedTensor>(const std::vector<double>& bias)>& judge);

}  // namespace sextant::oracle

#include "reference/layer/add_rms_norm.h"

#include <algorithm>
#include <cmath>

#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/norm_defects.h"
#include "oracle/layer/tensor_places.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "reference/layer/add_rms_norm_plan.h"
#include "reference/number/rounded/rounded.h"
#include "reference/prove/rounding_operation.h"

namespace sextant::oracle {
namespace {

double WeightOfOne(const Case& c) { return TextOf(c, "unit_offset") == "true" ? 0 : 1; }

Comparisons CheckSum(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response answer = ask(c, inputs);
  Comparisons comparisons;
  for (size_t i = 0; i < answer.size(kSum); ++i) {
    const double x = inputs[kX].values.data[i], residual = inputs[kResidual].values.data[i];
    const double sum = RoundTo(answer.outputs[kSum].dtype, TwoSum(x, residual));
    if (std::isfinite(sum)) comparisons.Equal(answer(kSum, i), sum, {answer, kSum, i});
  }
  return comparisons;
}

// The answered sum as x, with residual 0, gives the same y and sum.
Comparisons CheckSumAlone(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response answer = ask(c, inputs);
  Comparisons comparisons;
  if (answer.outputs[kSum].dtype != inputs[kX].dtype) return comparisons;
  Tensors alone = Filled(inputs, {"residual"}, 0);
  alone[kX].values = answer.outputs[kSum].values;
  ExpectEqual(answer, ask(c, alone), comparisons);
  return comparisons;
}

Comparisons CheckSwapped(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors swapped = inputs;
  std::swap(swapped[kX].values, swapped[kResidual].values);
  Comparisons comparisons;
  ExpectEqual(ask(c, inputs), ask(c, swapped), comparisons);
  return comparisons;
}

// 2 x, 2 residuals and 4 eps give the same y and twice the sum.
Comparisons CheckAddRmsNormUnits(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response answer = ask(c, inputs);
  const Response twice = ask(Multiplied(c, "eps", 4), Multiplied(inputs, {"x", "residual"}, 2));
  Comparisons comparisons;
  ExpectProportional(twice, 1, answer, comparisons, kY);
  ExpectProportional(twice, 2, answer, comparisons, kSum);
  return comparisons;
}

// With x + residual = 1/4 + 3/4 and eps = 3, y is half the weight.
Comparisons CheckAddRmsNormOnes(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c.With("eps=3"), Filled(Filled(inputs, {"x"}, 0.25), {"residual"}, 0.75));
  const size_t M = ExtentOf(c, "M");
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(kY); ++i) {
    const Measured weight = inputs[kNormWeight].values.data[i % M];
    comparisons.Equal(y(kY, i) * 2, weight + (1 - WeightOfOne(c)), {y, kY, i});
  }
  return comparisons;
}

// With weight 1 the sum of y^2 is at most M.
Comparisons CheckAddRmsNormMeanSquare(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t N = ExtentOf(c, "N"), M = ExtentOf(c, "M");
  const Response y = ask(c, Filled(inputs, {"weight"}, WeightOfOne(c)));
  Comparisons comparisons;
  for (size_t n = 0; n < N; ++n) {
    Measured squares = 0;
    for (size_t i = n * M; i < (n + 1) * M; ++i) squares = squares + y(kY, i) * y(kY, i);
    if (M > 0) comparisons.AtMost(squares, static_cast<double>(M), {y, kY, n * M});
  }
  return comparisons;
}

// The formula with one mutation in the sum, or in the norm.
struct MutatedAddRmsNorm : AddRmsNorm {
  enum class Mutation {
    kNone,          // the sum is correct
    kUnrounded,     // the norm reads the sum before it is rounded
    kNotAdded,      // the norm reads x
    kResidualOnly,  // the norm reads the residual
    kKeptX,         // the returned sum is x
    kKeptResidual,  // the returned sum is the residual
    kKeptY,         // the returned sum is y
    kTwice,         // the residual is added twice
    kSubtracted,    // x - residual
    kTruncated      // the sum is truncated to its dtype
  } mutation = Mutation::kNone;
  MutatedRmsNorm norm;

  double SumOf(double x, double residual) const {
    const DoubleDouble exact = mutation == Mutation::kSubtracted ? TwoSum(x, -residual)
                               : mutation == Mutation::kTwice    ? TwoSum(x, 2 * residual)
                                                                 : TwoSum(x, residual);
    const double rounded = RoundTo(rounded_dtype, exact);
    const double beyond = (DoubleDouble(rounded) - exact).high;
    if (mutation != Mutation::kTruncated || !std::isfinite(rounded)) return rounded;
    if (rounded > 0 && beyond > 0) return NextDown(rounded_dtype, rounded);
    if (rounded < 0 && beyond < 0) return NextUp(rounded_dtype, rounded);
    return rounded;
  }
  template <class Real>
  void operator()(const Tensor<double>& x, const Tensor<double>& residual,
                  const Tensor<Real>& weight, Tensor<Real>& y, Tensor<Real>& sum) const {
    Tensor<Real> read = sum;
    for (size_t i = 0; i < x.data.size(); ++i) {
      const double a = x.data[i], b = residual.data[i];
      sum.data[i] = read.data[i] = Real(SumOf(a, b), rounded_dtype);
      if (mutation == Mutation::kUnrounded) read.data[i] = Wider<Real>(a, b);
      if (mutation == Mutation::kNotAdded) read.data[i] = Real(a, rounded_dtype);
      if (mutation == Mutation::kResidualOnly) read.data[i] = Real(b, rounded_dtype);
      if (mutation == Mutation::kKeptX) sum.data[i] = Real(a, rounded_dtype);
      if (mutation == Mutation::kKeptResidual) sum.data[i] = Real(b, rounded_dtype);
    }
    MutatedRmsNorm mutated = norm;
    mutated.eps = eps;
    mutated.unit_offset = unit_offset;
    mutated(read, weight, y);
    if (mutation == Mutation::kKeptY) sum.data = y.data;
  }
  // x + residual in the format of the squares.
  template <class Real>
  static Real Wider(double x, double residual) {
    const ScopedStep at(Step::kSquare);
    return Real(x) + Real(residual);
  }
};

std::vector<Defect> SumDefects() {
  using Mutation = MutatedAddRmsNorm::Mutation;
  return MutatedFormulas<MutatedAddRmsNorm, &MutatedAddRmsNorm::mutation,
                         RoundingOperation<MutatedAddRmsNorm>>({
      {"norm_of_unrounded_sum",
       "the norm reads the sum in f32; only the returned sum is rounded (flashinfer "
       "include/flashinfer/norm.cuh FusedAddRMSNormKernel)",
       Mutation::kUnrounded},
      {"norm_of_x", "the norm reads x instead of the sum", Mutation::kNotAdded},
      {"norm_of_residual", "the norm reads the residual instead of the sum",
       Mutation::kResidualOnly},
      {"sum_is_x", "the returned sum is x", Mutation::kKeptX},
      {"sum_is_residual", "the returned sum is the residual", Mutation::kKeptResidual},
      {"sum_is_y", "the returned sum is y, the normalised sum", Mutation::kKeptY},
      {"residual_added_twice", "the residual is added before the kernel and again in it",
       Mutation::kTwice},
      {"residual_subtracted", "the residual is subtracted", Mutation::kSubtracted},
      {"sum_truncated", "16-bit sums are truncated instead of rounded", Mutation::kTruncated},
  });
}

auto& MutationOfNorm(MutatedAddRmsNorm& mutated) { return mutated.norm.mutation; }
std::vector<Defect> RmsDefects() {
  return MutatedFormulas<MutatedAddRmsNorm, MutationOfNorm, RoundingOperation<MutatedAddRmsNorm>>(
      RmsMutations());
}

std::vector<Defect> AddRmsNormInputDefects() {
  return {
      ChangedInputs("weight_ignored", "1 is used instead of the weight", {"weight"},
                    [](const Case& c, Tensors& inputs) {
                      std::ranges::fill(InputNamed(inputs, "weight").data, WeightOfOne(c));
                      return true;
                    }),
      ChangedInput("weight_reversed", "the weight is in reverse order of the channels", "weight",
                   [](Tensor<double>& weight) { std::ranges::reverse(weight.data); }),
      RoundedInput("residual_in_bf16", "the residual stream is stored in bf16 for every dtype",
                   "residual", DType::kBF16),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<AddRmsNorm>() {
  return {
      .properties = {{"sum_is_rounded_once", "sum is x + residual, correctly rounded", CheckSum},
                     {"norm_of_the_sum", "the sum as x, with residual 0, gives the same y and sum",
                      CheckSumAlone},
                     {"summands_alike", "exchanging x and residual changes nothing", CheckSwapped},
                     {"eps_has_the_unit_of_squares",
                      "2 x, 2 residual and 4 eps give the same y and twice the sum",
                      CheckAddRmsNormUnits},
                     OddIn({"x", "residual"}, "-x and -residual give -y and -sum"),
                     {"quarters_with_eps_three", "1/4 + 3/4 with eps 3 gives half the weight",
                      CheckAddRmsNormOnes},
                     {"mean_square_at_most_one", "with weight 1 the mean square is at most 1",
                      CheckAddRmsNormMeanSquare}},
      .defects =
          Joined<Defect>({SumDefects(), NormDefects(), RmsDefects(), AddRmsNormInputDefects()}),
      .plan = MakerOf<AddRmsNorm>()};
}

}  // namespace sextant::oracle

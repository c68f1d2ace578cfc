#include "reference/layer/linear_scaled.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/code_defects.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {
namespace {

constexpr size_t kX = 0, kWeight = 1;

// Zero points of 0, where there are any.
Tensors WithoutZeros(Tensors inputs) {
  for (NamedTensor& input : inputs)
    if (input.dtype == DType::kI64) std::ranges::fill(input.values.data, 0);
  return inputs;
}

// If every row of x has one number other than 0, 1 in a column, y is that column of the weight by
// the scales, which are powers of two.
Comparisons CheckScaledColumns(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  const size_t width = ExtentOf(c, "G") * ExtentOf(c, "M"),
               columns = ExtentOf(c, "F") * ExtentOf(c, "A");
  if (width == 0) return comparisons;
  Tensors probe = Filled(WithoutZeros(WithoutBias(inputs)), {"x"}, 0);
  std::vector<double>& x = probe[kX].values.data;
  for (size_t row = 0; row * width < x.size(); ++row) x[row * width + row % width] = 1;
  const size_t G = ExtentOf(c, "G"), N = ExtentOf(c, "N"), F = ExtentOf(c, "F");
  const auto power = [](size_t i, size_t g) {
    return std::ldexp(1, static_cast<int>((i + 2 * g) % 4));
  };
  Tensor<double>& of_weight = InputNamed(probe, "weight_scale");
  for (size_t i = 0; i < F * G; ++i) of_weight.data[i] = power(i / G, i % G);
  const bool scales_x = HasInput(probe, "x_scale");
  for (size_t i = 0; scales_x && i < N * G; ++i)
    InputNamed(probe, "x_scale").data[i] = power(i / G + 1, i % G);
  const Response y = ask(c, probe);
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t row = i / columns, column = i % columns, at = row % width,
                 g = at / ExtentOf(c, "M");
    const size_t n = row / ExtentOf(c, "B"), f = column / ExtentOf(c, "A");
    const double code = inputs[kWeight].values.data[column * width + at];
    comparisons.Equal(y(0, i), code * power(f, g) * (scales_x ? power(n + 1, g) : 1), {y, 0, i});
  }
  return comparisons;
}

// Twice the scales of the weight give twice y, less the bias; twice those of x, too.
Comparisons CheckScalesTwice(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Tensors plain = WithoutBias(inputs);
  const Response y = ask(c, plain);
  Comparisons comparisons;
  for (const char* scale : {"weight_scale", "x_scale"})
    if (HasInput(plain, scale))
      ExpectProportional(ask(c, Multiplied(plain, {scale}, 2)), 2, y, comparisons);
  return comparisons;
}

// With a weight of 0 y is the bias.
Comparisons CheckScaledZero(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, Filled(WithoutZeros(inputs), {"weight"}, 0));
  const Tensor<double>* const bias = FindValues(inputs, "bias");
  return EachEqual(
      y, [&](size_t i) -> Measured { return bias ? bias->data[i % bias->data.size()] : 0; });
}

struct MutatedLinearScaled : LinearScaled {
  enum class Mutation { kNone, kLastBlockOnly, kScalesOfLastBlock, kOfExchangedColumns } mutation{};

  template <class Real>
  void operator()(const Tensor<Real>& x, const Weights<Real>& weight,
                  const Tensor<Real>& weight_scale, const Tensor<Real>* x_scale,
                  const Tensor<Real>* bias, const Tensor<Real>* weight_zero,
                  const Tensor<Real>* x_zero, Tensor<Real>& y) const {
    const size_t F = weight.shape[0], A = weight.shape[1], G = weight.shape[2], N = x.shape[0];
    Tensor<Real> of_weight = weight_scale;
    std::optional<Tensor<Real>> of_x;
    if (x_scale) of_x = *x_scale;
    for (size_t g = 0; g < G; ++g) {
      const bool is_last = g + 1 == G;
      for (size_t f = 0; f < F; ++f) {
        if (mutation == Mutation::kLastBlockOnly && !is_last) of_weight(f, g) = Real(0.0);
        if (mutation == Mutation::kScalesOfLastBlock) of_weight(f, g) = weight_scale(f, G - 1);
      }
      for (size_t n = 0; of_x && n < N; ++n)
        if (mutation == Mutation::kScalesOfLastBlock) (*of_x)(n, g) = (*x_scale)(n, G - 1);
    }
    LinearScaled::operator()(x, weight, of_weight, of_x ? &*of_x : nullptr, bias, weight_zero,
                             x_zero, y);
    if (mutation != Mutation::kOfExchangedColumns) return;
    // The columns of y [F,A] stand as [A,F].
    const Tensor<Real> right = y;
    for (size_t i = 0; i < y.data.size(); ++i) {
      const size_t column = i % (F * A);
      y.data[i] = right.data[i - column + column % F * A + column / F];
    }
  }
};

std::vector<Defect> LinearScaledDefects() {
  using Mutation = MutatedLinearScaled::Mutation;
  const auto in_bf16 = [](DType, double s) { return RoundTo(DType::kBF16, s); };
  return Joined<Defect>(
      {{FilledInput("weight_scale_ignored", "the scale of the weight counts as 1", "weight_scale",
                    1),
        FilledInput("x_scale_ignored", "the scale of x counts as 1", "x_scale", 1),
        ChangedNumbers("weight_scale_inverted", "the weight is divided by its scale",
                       "weight_scale", Inverted),
        ChangedNumbers("weight_scaled_twice", "the scale of the weight is applied twice",
                       "weight_scale", Squared),
        ChangedNumbers("x_scaled_twice", "the scale of x is applied twice", "x_scale", Squared),
        ChangedNumbers("weight_scale_in_bf16", "the scale of the weight is read in bf16",
                       "weight_scale", in_bf16),
        ChangedNumbers("x_scale_in_bf16", "the scale of x is read in bf16", "x_scale", in_bf16),
        ScalesOfOtherBlocks("weight_scale_of_next_block",
                            "a block of the weight has the scale of the next one", "weight_scale",
                            NextBlock),
        ScalesOfOtherBlocks("weight_scale_of_first_block",
                            "all blocks of a row of the weight have the scale of the first",
                            "weight_scale", FirstBlock),
        ScalesOfOtherBlocks("x_scale_of_first_block",
                            "all blocks of a row of x have the scale of the first", "x_scale",
                            FirstBlock),
        AcrossSlices(ChangedInput("weight_scale_of_next_row",
                                  "the scales of the weight are shifted by one row", "weight_scale",
                                  RotateRows)),
        AcrossSlices(ChangedInput("x_scale_of_next_row", "the scales of x are shifted by one row",
                                  "x_scale", RotateRows)),
        MissingInput("weight_zero_missing", "the codes of the weight count from 0", "weight_zero"),
        ShiftedInput("weight_zero_off_by_one",
                     "the zero point of the weight is 1 too small, as GPTQ once stored it",
                     "weight_zero", -1),
        ChangedInput("weight_zero_added", "the zero point of the weight is added", "weight_zero",
                     [](Tensor<double>& zero) { zero = Times(zero, -1); }),
        ScalesOfOtherBlocks("weight_zero_of_next_block",
                            "a block of the weight has the zero point of the next one",
                            "weight_zero", NextBlock),
        MissingInput("x_zero_missing", "the codes of x count from 0", "x_zero"),
        ChangedInput("x_zero_added", "the zero point of x is added", "x_zero",
                     [](Tensor<double>& zero) { zero = Times(zero, -1); }),
        PairsExchanged("weight"),
        ChangedNumbers("sign_lost", "the sign of the weight's codes is not read", "weight",
                       WithoutSign),
        ChangedNumbers("other_bias",
                       "the exponents of the weight's codes are read off by one (fn for fnuz)",
                       "weight", Halved),
        MissingInput("bias_missing", "the bias is not added", "bias"),
        ChangedRecipe("sum_in_bf16", "the sums of blocks are accumulated in bf16", "dot=bf16"),
        ChangedRecipe("sum_in_f16", "the sums of blocks are accumulated in f16", "dot=f16"),
        ChangedRecipe("blocks_added_in_bf16", "the blocks are added in bf16", "sum=bf16"),
        ChangedRecipe("scaled_in_bf16", "the scales are multiplied in bf16", "scale=bf16")},
       MutatedFormulas<MutatedLinearScaled>(
           {{"last_block_only", "the last block overwrites the others", Mutation::kLastBlockOnly},
            {"scales_of_last_block", "the sum over all blocks is multiplied by the last scales",
             Mutation::kScalesOfLastBlock},
            {"columns_by_block", "y has its columns as [A,F]", Mutation::kOfExchangedColumns,
             true}})});
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<LinearScaled>() {
  return {.properties = {{"columns_of_the_weight",
                          "an x with one number gives a column of the weight", CheckScaledColumns},
                         {"in_proportion", "twice a scale gives twice y, less the bias",
                          CheckScalesTwice},
                         {"zero_gives_the_bias", "a weight of 0 gives the bias, or 0",
                          CheckScaledZero}},
          .defects = LinearScaledDefects()};
}

}  // namespace sextant::oracle

#include "reference/layer/rms_norm.h"

#include <algorithm>
#include <cmath>

#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/norm_defects.h"
#include "oracle/layer/tensor_places.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "reference/layer/rms_norm_plan.h"

namespace sextant::oracle {
namespace {

bool HasUnitOffset(const Case& c) { return TextOf(c, "unit_offset") == "true"; }

// The inputs with an effective weight of 1: weight is 0 with unit_offset.
Tensors WithoutWeight(const Case& c, const Tensors& inputs) {
  return Filled(inputs, {"weight"}, HasUnitOffset(c) ? 0 : 1);
}

// 2 x and 4 eps give the same y: eps has the unit of x^2.
Comparisons CheckRmsNormUnits(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  ExpectEqual(ask(c, inputs), ask(Multiplied(c, "eps", 4), Multiplied(inputs, {"x"}, 2)),
              comparisons);
  return comparisons;
}

// sum y^2 <= M for weight 1, and = M for eps 0.
Comparisons CheckRmsNormMeanSquare(const Case& c, const Tensors& inputs, const Ask& ask,
                                   bool without_eps) {
  const Case asked = without_eps ? c.With("eps=0") : c;
  const size_t N = ExtentOf(c, "N"), M = ExtentOf(c, "M");
  const Response y = ask(asked, WithoutWeight(c, inputs));
  Comparisons comparisons;
  for (size_t n = 0; n < N; ++n) {
    Measured sum = 0;
    for (size_t j = 0; j < M; ++j) sum = sum + y(0, n * M + j) * y(0, n * M + j);
    if (without_eps) comparisons.Equal(sum, static_cast<double>(M), {y, 0, n * M});
    if (!without_eps) comparisons.AtMost(sum, static_cast<double>(M), {y, 0, n * M});
  }
  return comparisons;
}

// x = 1 and eps = 3: 1 / sqrt(1 + 3) = 1 / 2.
Comparisons CheckRmsNormOnes(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c.With("eps=3"), Filled(inputs, {"x"}, 1));
  const size_t M = ExtentOf(c, "M");
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i) {
    const Measured weight = inputs[kWeight].values.data[i % M];
    comparisons.Equal(y(0, i) * 2, HasUnitOffset(c) ? weight + 1 : weight, {y, 0, i});
  }
  return comparisons;
}

// Without unit_offset doubling the weight doubles y; with it y(w) + y(-w) = 2 y(0).
Comparisons CheckWeight(const Case& c, const Tensors& inputs, const Ask& ask) {
  const bool offset = HasUnitOffset(c);
  const Response y = ask(c, inputs);
  const Response y_other = ask(c, Multiplied(inputs, {"weight"}, offset ? -1 : 2));
  const Response y_zero = ask(c, Filled(inputs, {"weight"}, 0));
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i) {
    if (offset) {
      comparisons.Equal(y(0, i) + y_other(0, i), y_zero(0, i) * 2, {y, 0, i});
    } else {
      comparisons.Equal(y_other(0, i), y(0, i) * 2, {y_other, 0, i});
      comparisons.Equal(y_zero(0, i), 0, {y_zero, 0, i});
    }
  }
  return comparisons;
}

// With eps 0 a positive factor of x does not change y.
Comparisons CheckRmsNormScale(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Case asked = c.With("eps=0");
  Comparisons comparisons;
  ExpectEqual(ask(asked, inputs), ask(asked, Multiplied(inputs, {"x"}, 8)), comparisons);
  return comparisons;
}

// Without a weight the norm commutes with rotations. Here pairs of columns are rotated by the angle
// with cosine 3/5 and sine 4/5 and multiplied by 5. Small integers then stay small integers, so x
// is exact in every dtype. eps is multiplied by 25. A last column without a partner is only
// multiplied by 5.
Comparisons CheckRotation(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t M = ExtentOf(c, "M");
  Tensors plain = WithoutWeight(c, inputs);
  for (double& x : plain[kX].values.data) {
    if (std::isfinite(x)) x = std::clamp(std::nearbyint(4 * x), -16.0, 16.0);
  }
  Tensors rotated = plain;
  const auto& from = plain[kX].values.data;
  for (size_t i = 0; i < from.size(); ++i) {
    const bool second = i % M % 2 == 1, alone = !second && i % M + 1 == M;
    rotated[kX].values.data[i] = alone    ? 5 * from[i]
                                 : second ? 4 * from[i - 1] + 3 * from[i]
                                          : 3 * from[i] - 4 * from[i + 1];
  }
  const Response y = ask(c, plain);
  const Response other = ask(Multiplied(c, "eps", 25), rotated);
  Comparisons comparisons;
  for (size_t i = 0; i < from.size(); ++i) {
    const bool second = i % M % 2 == 1, alone = !second && i % M + 1 == M;
    const Measured expected = alone    ? y(0, i) * 5
                              : second ? y(0, i - 1) * 4 + y(0, i) * 3
                                       : y(0, i) * 3 - y(0, i + 1) * 4;
    comparisons.Equal(other(0, i) * 5, expected, {other, 0, i});
  }
  return comparisons;
}

std::vector<Defect> WeightDefects() {
  return {
      ChangedInputs("weight_ignored", "1 is used instead of the weight", {"weight"},
                    [](const Case& c, Tensors& inputs) {
                      auto& weight = InputNamed(inputs, "weight").data;
                      std::ranges::fill(weight, HasUnitOffset(c) ? 0 : 1);
                      return true;
                    }),
      ChangedInput("weight_reversed", "the weight is in reverse order of the channels", "weight",
                   [](Tensor<double>& weight) { std::ranges::reverse(weight.data); }),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RmsNorm>() {
  return {
      .properties =
          {{"eps_has_the_unit_of_squares", "2 x and 4 eps give the same y", CheckRmsNormUnits},
           OddIn({"x"}, "-x gives -y"),
           {"mean_square_at_most_one", "with weight 1 the mean square is at most 1",
            [](const Case& c, const Tensors& inputs, const Ask& ask) {
              return CheckRmsNormMeanSquare(c, inputs, ask, false);
            }},
           {"mean_square_is_one", "with weight 1 and eps 0 the mean square is 1",
            [](const Case& c, const Tensors& inputs, const Ask& ask) {
              return CheckRmsNormMeanSquare(c, inputs, ask, true);
            }},
           {"ones_with_eps_three", "ones with eps 3 give half the weight", CheckRmsNormOnes},
           {"linear_in_weight", "y is linear in the weight, or in 1 + weight with unit_offset",
            CheckWeight},
           {"scale_ignored_without_eps", "with eps 0, 8 x gives the same y", CheckRmsNormScale},
           {"commutes_with_rotations",
            "without a weight, rotating pairs of columns of x rotates those of y", CheckRotation},
           ColumnsAlike()},
      .defects = Joined<Defect>(
          {NormDefects(), MutatedFormulas<MutatedRmsNorm>(RmsMutations()), WeightDefects()}),
      .plan = MakerOf<RmsNorm>()};
}

}  // namespace sextant::oracle

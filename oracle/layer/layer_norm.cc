#include "reference/layer/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/layer_norm_defects.h"
#include "oracle/layer/tensor_places.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "reference/layer/layer_norm_plan.h"

namespace sextant::oracle {
namespace {

// x rounded to small integers, plus a shift: exact in every dtype.
Tensors Shifted(Tensors inputs, double shift) {
  for (double& x : inputs[kX].values.data) {
    x = (std::isfinite(x) ? std::clamp(std::nearbyint(4 * x), -16.0, 16.0) : x) + shift;
  }
  return inputs;
}

Comparisons CheckShift(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  ExpectEqual(ask(c, Shifted(inputs, 0)), ask(c, Shifted(inputs, 200)), comparisons);
  return comparisons;
}

// 2 x and 4 eps give the same y: eps has the unit of x^2.
Comparisons CheckLayerNormUnits(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  ExpectEqual(ask(c, inputs), ask(Multiplied(c, "eps", 4), Multiplied(inputs, {"x"}, 2)),
              comparisons);
  return comparisons;
}

// Doubling weight and bias doubles y. With weight 0, y is the bias. With bias 0, y is smaller by
// the bias.
Comparisons CheckAffine(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs), twice = ask(c, Multiplied(inputs, {"weight", "bias"}, 2));
  const Response only_bias = ask(c, Filled(inputs, {"weight"}, 0));
  const Response no_bias = ask(c, Filled(inputs, {"bias"}, 0));
  const size_t M = ExtentOf(c, "M");
  Comparisons comparisons;
  ExpectProportional(twice, 2, y, comparisons);
  for (size_t i = 0; i < y.size(); ++i) {
    const double bias = inputs[kBias].values.data[i % M];
    comparisons.Equal(only_bias(0, i), bias, {only_bias, 0, i});
    comparisons.Equal(no_bias(0, i) + bias, y(0, i), {y, 0, i});
  }
  return comparisons;
}

// With weight 1 the mean of y is that of the bias. With bias 0 as well, the mean square of y is at
// most 1, and 1 with eps 0.
Comparisons CheckMoments(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t N = ExtentOf(c, "N"), M = ExtentOf(c, "M");
  const Tensors plain = Filled(inputs, {"weight"}, 1), centering = Filled(plain, {"bias"}, 0);
  const Response y = ask(c, plain), centered = ask(c, centering);
  const Response unit = ask(c.With("eps=0"), centering);
  Comparisons comparisons;
  for (size_t n = 0; n < N; ++n) {
    Measured sum = 0, squares = 0, ones = 0, bias = 0;
    for (size_t i = n * M; i < (n + 1) * M; ++i) {
      sum = sum + y(0, i);
      bias = bias + Measured(inputs[kBias].values.data[i % M]);
      squares = squares + centered(0, i) * centered(0, i);
      ones = ones + unit(0, i) * unit(0, i);
    }
    if (M == 0) continue;
    comparisons.Equal(sum, bias, {y, 0, n * M});
    comparisons.AtMost(squares, static_cast<double>(M), {centered, 0, n * M});
    comparisons.Equal(ones, static_cast<double>(M), {unit, 0, n * M});
  }
  return comparisons;
}

// x = 5, 3, 5, 3 ... has mean 4 and variance 1. With eps = 3, y is the bias plus and minus half the
// weight.
Comparisons CheckAlternating(const Case& c, Tensors inputs, const Ask& ask) {
  const size_t M = ExtentOf(c, "M");
  Comparisons comparisons;
  if (M % 2 != 0) return comparisons;
  for (size_t i = 0; i < inputs[kX].values.data.size(); ++i) {
    inputs[kX].values.data[i] = i % M % 2 == 0 ? 5 : 3;
  }
  const Response y = ask(c.With("eps=3"), inputs);
  for (size_t i = 0; i < y.size(); ++i) {
    const double sign = i % M % 2 == 0 ? 1 : -1;
    const Measured weight = inputs[kWeight].values.data[i % M];
    comparisons.Equal((y(0, i) - inputs[kBias].values.data[i % M]) * 2, weight * sign, {y, 0, i});
  }
  return comparisons;
}

Comparisons CheckConstant(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c.With("eps=1"), Filled(inputs, {"x"}, 3));
  const size_t M = ExtentOf(c, "M");
  return EachEqual(y, [&](size_t i) { return inputs[kBias].values.data[i % M]; });
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<LayerNorm>() {
  return {
      .properties = {{"shift_ignored", "x + c gives the same y", CheckShift},
                     {"eps_has_the_unit_of_squares", "2 x and 4 eps give the same y",
                      CheckLayerNormUnits},
                     OddIn({"x", "bias"}, "-x and -bias give -y"),
                     {"linear_in_weight_and_bias", "y is linear in weight and bias", CheckAffine},
                     {"mean_and_mean_square",
                      "with weight 1, y - bias has mean 0 and a mean square of at most 1",
                      CheckMoments},
                     {"alternating_with_eps_three",
                      "alternating 5 and 3 with eps 3 give the bias plus and minus half the weight",
                      CheckAlternating},
                     {"equal_numbers_give_the_bias", "a row of equal numbers becomes the bias",
                      CheckConstant},
                     ColumnsAlike()},
      .defects = LayerNormDefects(),
      .plan = MakerOf<LayerNorm>()};
}

}  // namespace sextant::oracle

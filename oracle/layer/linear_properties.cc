#include "oracle/layer/linear_properties.h"

#include <algorithm>
#include <cmath>

#include "oracle/defect/input_defects.h"
#include "oracle/layer/tensor_places.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {
namespace {

Tensors WithoutBias(const Tensors& inputs) {
  return HasInput(inputs, "bias") ? Filled(inputs, {"bias"}, 0) : inputs;
}

// If every row of x has one nonzero element, 2 in column m, y is exactly twice column m of the
// weight.
Comparisons CheckColumns(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t N = ExtentOf(c, "N"), F = ExtentOf(c, "F"), M = ExtentOf(c, "M");
  Comparisons comparisons;
  if (M == 0) return comparisons;
  Tensors probe = WithoutBias(inputs);
  auto& x = probe[kX].values.data;
  std::ranges::fill(x, 0);
  for (size_t n = 0; n < N; ++n) x[n * M + n % M] = 2;
  const Response y = ask(c, probe);
  for (size_t i = 0; i < N * F; ++i) {
    const double weight = inputs[kWeight].values.data[i % F * M + i / F % M];
    comparisons.Equal(y(0, i), 2 * weight, {y, 0, i});
  }
  return comparisons;
}

// Doubling x and the bias doubles y. They are not halved, because half of a number need not be a
// number of the dtype.
Comparisons CheckLinearScale(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors twice = Multiplied(inputs, {"x"}, 2);
  if (HasInput(inputs, "bias")) twice = Multiplied(twice, {"bias"}, 2);
  Comparisons comparisons;
  ExpectProportional(ask(c, twice), 2, ask(c, inputs), comparisons);
  return comparisons;
}

// The results for the even and for the odd columns of the weight add up to y. The first includes
// the bias.
Comparisons CheckParts(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t M = ExtentOf(c, "M");
  Tensors even = inputs, odd = WithoutBias(inputs);
  for (size_t i = 0; i < inputs[kWeight].values.data.size(); ++i) {
    (i % M % 2 == 0 ? odd : even)[kWeight].values.data[i] = 0;
  }
  const Response y = ask(c, inputs), a = ask(c, even), b = ask(c, odd);
  return EachEqual(y, [&](size_t i) { return a(0, i) + b(0, i); });
}

// Reversing the columns of x and of the weight changes nothing.
Comparisons CheckLinearOrder(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors reversed = inputs;
  for (const char* name : {"x", "weight"}) {
    ReverseBlocks(InputNamed(reversed, name), InputNamed(reversed, name).shape[0], 1);
  }
  Comparisons comparisons;
  ExpectEqual(ask(c, inputs), ask(c, reversed), comparisons);
  return comparisons;
}

// Rounded to `bits` bits of significand, with the exponents of the dtype.
template <int bits>
double RoundedTo(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

Defect WithOperandsOf(std::string name, std::string why, double (*rounded)(double)) {
  return ChangedInputs(std::move(name), std::move(why), [rounded](const Case&, Tensors& inputs) {
    if (inputs[kX].dtype == DType::kBF16) return false;  // has no bits to lose
    const Tensors before = inputs;
    for (const size_t t : {kX, kWeight})
      std::ranges::transform(inputs[t].values.data, inputs[t].values.data.begin(), rounded);
    return inputs[kX].values.data != before[kX].values.data ||
           inputs[kWeight].values.data != before[kWeight].values.data;
  });
}

}  // namespace

std::vector<Property> LinearProperties() {
  return {
      {"columns_of_the_weight",
       "an x with one nonzero element gives a multiple of a column of the weight", CheckColumns},
      {"in_proportion", "doubling x and the bias doubles y", CheckLinearScale},
      {"columns_add_up", "the results for even and odd columns of the weight add up to y",
       CheckParts},
      {"columns_in_any_order", "the order of the columns does not matter", CheckLinearOrder}};
}

std::vector<Defect> LinearDefects() {
  return {
      TransposedInput("weight_transposed",
                      "the weight is read as [M,F], as the product x weight requires", "weight"),
      WithOperandsOf("operands_in_tf32",
                     "x and weight lose 13 bits of significand (TensorFloat-32)", RoundedTo<11>),
      WithOperandsOf("operands_in_bf16", "x and weight are rounded to bf16 before the product",
                     RoundedTo<8>),
      WithOperandsOf("operands_in_f16",
                     "x and weight are rounded to f16 before the product: 11 bits of significand, "
                     "as TensorFloat-32, but less range (ggml, with weights of f16)",
                     [](double x) { return RoundTo(DType::kF16, x); }),
      ChangedRecipe("sum_in_bf16", "dot products are accumulated in bf16", "dot=bf16"),
      ChangedRecipe("sum_in_f16", "dot products are accumulated in f16", "dot=f16"),
  };
}

}  // namespace sextant::oracle

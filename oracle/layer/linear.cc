#include "reference/layer/linear.h"

#include <algorithm>
#include <cmath>

#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/measured/linear.h"
#include "oracle/layer/tensor_places.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "oracle/property/property.h"

namespace sextant::oracle {
namespace {

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

// With x = 0, y is the bias.
Comparisons CheckZero(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, Filled(inputs, {"x"}, 0));
  const Tensor<double>* const bias = FindValues(inputs, "bias");
  const size_t F = ExtentOf(c, "F");
  return EachEqual(y, [&](size_t i) { return bias ? bias->data[i % F] : 0; });
}

// y minus the bias is y with bias 0.
Comparisons CheckBias(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  if (!HasInput(inputs, "bias")) return comparisons;
  const Response y = ask(c, inputs), product = ask(c, WithoutBias(inputs));
  const size_t F = ExtentOf(c, "F");
  for (size_t i = 0; i < y.size(); ++i) {
    comparisons.Equal(y(0, i) - InputNamed(inputs, "bias").data[i % F], product(0, i), {y, 0, i});
  }
  return comparisons;
}

std::vector<Property> LinearProperties() {
  return {
      {"columns_of_the_weight",
       "an x with one nonzero element gives a multiple of a column of the weight", CheckColumns},
      {"in_proportion", "doubling x and the bias doubles y", CheckLinearScale},
      {"columns_add_up", "the results for even and odd columns of the weight add up to y",
       CheckParts},
      {"columns_in_any_order", "the order of the columns does not matter", CheckLinearOrder},
      {"zero_gives_the_bias", "x = 0 gives the bias, or 0", CheckZero},
      {"less_its_bias", "y minus the bias is y with bias 0", CheckBias}};
}

struct MutatedLinear : Linear {
  enum class Mutation {
    kNone,
    kRoundedProducts,  // each product is rounded to bf16 before it is added
    kLastBlockOnly,    // only the last block of 16 columns is added
    kSumCarriedOver,   // the sum starts with that of the previous row
    kLastColumn,       // the last column of x is not added
    kRowsOfX,          // rows of x are read with a step of M + 1
    kBiasByRow,        // the bias is indexed by the row
    kBiasOfBlocks,     // added with every block of 16 columns
    kBiasOfFirstRow,   // added to the first row only
    kBiasSubtracted
  } mutation{};
  static constexpr size_t kBlock = 16;

  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, const Tensor<Real>* bias,
                  Tensor<Real>& y) const {
    Multiply(x, weight, y);
    if (bias) Add(*bias, x.shape[1], y);
  }

 private:
  template <class Real>
  void Multiply(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const {
    const size_t N = x.shape[0], F = weight.shape[0], M = x.shape[1];
    for (size_t n = 0; n < N; ++n) {
      for (size_t f = 0; f < F; ++f) {
        const ScopedStep at(Step::kDot);
        std::vector<Real> terms;
        for (size_t m = 0; m < M; ++m) {
          const bool in_last_block = m / kBlock == (M - 1) / kBlock;
          if (mutation == Mutation::kLastBlockOnly && !in_last_block) continue;
          if (mutation == Mutation::kLastColumn && m + 1 == M) continue;
          const size_t row = mutation == Mutation::kRowsOfX ? n * (M + 1) : n * M;
          const Real product = x.data[(row + m) % x.data.size()] * weight(f, m);
          const bool rounds = mutation == Mutation::kRoundedProducts;
          terms.push_back(rounds ? ConvertedTo(DType::kBF16, product) : product);
        }
        if (mutation == Mutation::kSumCarriedOver && n > 0) terms.push_back(y(n - 1, f));
        y(n, f) = SumOf(terms);
      }
    }
  }
  template <class Real>
  void Add(const Tensor<Real>& bias, size_t M, Tensor<Real>& y) const {
    const ScopedStep at(Step::kBias);
    const size_t F = y.shape[1];
    const size_t rows =
        std::min(y.shape[0], mutation == Mutation::kBiasOfFirstRow ? 1 : y.shape[0]);
    const size_t blocks = std::max<size_t>(1, (M + kBlock - 1) / kBlock);
    const size_t times = mutation == Mutation::kBiasOfBlocks ? blocks : 1;
    for (size_t n = 0; n < rows; ++n) {
      for (size_t f = 0; f < F; ++f) {
        const Real& own = bias(mutation == Mutation::kBiasByRow ? n % F : f);
        for (size_t i = 0; i < times; ++i) {
          y(n, f) = mutation == Mutation::kBiasSubtracted ? y(n, f) - own : y(n, f) + own;
        }
      }
    }
  }
};

std::vector<Defect> LinearFormulaDefects() {
  using Mutation = MutatedLinear::Mutation;
  return MutatedFormulas<MutatedLinear>({
      {"bias_by_row", "the bias is indexed by the row", Mutation::kBiasByRow, true},
      {"bias_with_every_block", "the bias is added with every block of 16 columns",
       Mutation::kBiasOfBlocks},
      {"bias_of_first_row_only", "the bias is not broadcast to all rows", Mutation::kBiasOfFirstRow,
       true},
      {"bias_subtracted", "the bias is subtracted", Mutation::kBiasSubtracted},
      {"products_in_bf16", "each product is rounded to bf16", Mutation::kRoundedProducts},
      {"last_block_only", "blocks of 16 columns overwrite the sum instead of adding to it",
       Mutation::kLastBlockOnly},
      {"sum_not_reset", "the sum of a row starts with that of the previous row",
       Mutation::kSumCarriedOver, true},
      {"last_column_missing", "the last column of x is not added", Mutation::kLastColumn},
      {"rows_too_far_apart", "x is read with a row step of M + 1", Mutation::kRowsOfX, true},
  });
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

std::vector<Defect> LinearDefects() {
  return {
      MissingInput("bias_missing", "the bias is not added", "bias"),
      DoubledInput("bias_added_twice",
                   "the bias is added by the kernel of the product and again after it", "bias"),
      ChangedInput("bias_of_next_column", "the bias is shifted by one column", "bias",
                   [](Tensor<double>& bias) {
                     if (!bias.data.empty()) std::ranges::rotate(bias.data, bias.data.begin() + 1);
                   }),
      ChangedRecipe("bias_in_bf16", "the bias is added in bf16 for every dtype", "bias=bf16"),
      ChangedRecipe("bias_in_f16", "the bias is added in f16 for every dtype", "bias=f16"),
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

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Linear>() {
  return {.properties = LinearProperties(),
          .defects = Joined<Defect>({LinearDefects(), LinearFormulaDefects()}),
          .measurements = LinearMeasurements()};
}

}  // namespace sextant::oracle

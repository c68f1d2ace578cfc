#include "reference/layer/linear_bias.h"

#include <algorithm>

#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/linear_properties.h"
#include "oracle/layer/measured/linear.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "oracle/property/property.h"

namespace sextant::oracle {
namespace {

// With x = 0, y is the bias.
Comparisons CheckZero(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, Filled(inputs, {"x"}, 0));
  const size_t F = ExtentOf(c, "F");
  return EachEqual(y, [&](size_t i) { return InputNamed(inputs, "bias").data[i % F]; });
}

// y minus the bias is y with bias 0.
Comparisons CheckBias(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs), product = ask(c, Filled(inputs, {"bias"}, 0));
  const size_t F = ExtentOf(c, "F");
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i) {
    comparisons.Equal(y(0, i) - InputNamed(inputs, "bias").data[i % F], product(0, i), {y, 0, i});
  }
  return comparisons;
}

struct MutatedLinearBias : LinearBias {
  enum class Mutation {
    kNone,
    kByRow,      // the bias is indexed by the row
    kOfBlocks,   // added with every block of 16 columns
    kFirstRow,   // added to the first row only
    kSubtracted  // subtracted
  } mutation{};

  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, const Tensor<Real>& bias,
                  Tensor<Real>& y) const {
    constexpr size_t kBlock = 16;
    const size_t N = x.shape[0], F = weight.shape[0], M = x.shape[1];
    const size_t blocks = std::max<size_t>(1, (M + kBlock - 1) / kBlock);
    for (size_t n = 0; n < N; ++n) {
      for (size_t f = 0; f < F; ++f) {
        y(n, f) =
            Dot(std::span(x.data).subspan(n * M, M), std::span(weight.data).subspan(f * M, M));
        const ScopedStep at(Step::kBias);
        const Real& own = bias(mutation == Mutation::kByRow ? n % F : f);
        const size_t times = mutation == Mutation::kOfBlocks ? blocks : 1;
        if (mutation == Mutation::kFirstRow && n > 0) continue;
        for (size_t i = 0; i < times; ++i) {
          y(n, f) = mutation == Mutation::kSubtracted ? y(n, f) - own : y(n, f) + own;
        }
      }
    }
  }
};

std::vector<Defect> LinearBiasBiasDefects() {
  using Mutation = MutatedLinearBias::Mutation;
  return Joined<Defect>(
      {{MissingInput("bias_missing", "the bias is not added", "bias"),
        DoubledInput("bias_added_twice",
                     "the bias is added by the kernel of the product and again after it", "bias"),
        ChangedInput("bias_of_next_column", "the bias is shifted by one column", "bias",
                     [](Tensor<double>& bias) {
                       if (!bias.data.empty())
                         std::ranges::rotate(bias.data, bias.data.begin() + 1);
                     })},
       MutatedFormulas<MutatedLinearBias>({
           {"bias_by_row", "the bias is indexed by the row", Mutation::kByRow, true},
           {"bias_with_every_block", "the bias is added with every block of 16 columns",
            Mutation::kOfBlocks},
           {"bias_of_first_row_only", "the bias is not broadcast to all rows", Mutation::kFirstRow,
            true},
           {"bias_subtracted", "the bias is subtracted", Mutation::kSubtracted},
       }),
       {ChangedRecipe("bias_in_bf16", "the bias is added in bf16 for every dtype", "bias=bf16"),
        ChangedRecipe("bias_in_f16", "the bias is added in f16 for every dtype", "bias=f16")}});
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<LinearBias>() {
  return {.properties = Joined<Property>(
              {LinearProperties(),
               {{"zero_gives_the_bias", "x = 0 gives the bias", CheckZero},
                {"less_its_bias", "y minus the bias is y with bias 0", CheckBias}}}),
          .defects = Joined<Defect>({LinearBiasBiasDefects(), LinearDefects()}),
          .measurements = LinearMeasurements()};
}

}  // namespace sextant::oracle

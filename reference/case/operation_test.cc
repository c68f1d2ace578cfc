#include "reference/case/operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

// The struct lists them in another order than the signature.
template <class Real>
struct SumWeights {
  std::optional<Tensor<Real>> bias;
  Weights<Real> weight;
  Tensor<Real> scale;
  void Visit(auto&& v) {
    v("bias", bias);
    v("weight", weight);
    v(kScale, scale);
  }
  static inline const char* kScale = "scale";
};
template <class Real>
struct SumOutputs {
  Tensor<Real>*sum, *y;
  void Visit(auto&& v) {
    v("sum", sum);
    v("y", y);
  }
};

struct NamedSum {
  static constexpr std::string_view kName = "named_sum", kSlices = "", kSteps = "", kDraw = "",
                                    kChoices = "", kFormula = "", kSource = "";
  static constexpr std::string_view kSignature =
      "x[N] scale[N] weight[N,N] bias?[N] -> y[N] sum[N]";
  bool reads_bias = true;
  void Visit(auto&&) {}
  bool Reads(std::string_view) const { return reads_bias; }
  template <class Real>
  void operator()(const Tensor<Real>& x, const SumWeights<Real>& w,
                  const SumOutputs<Real>& out) const {
    *out.y = x;
    for (size_t n = 0; n < x.shape[0]; ++n) {
      (*out.y)(n) = x(n) * w.scale(n) * w.weight.RowOf(n)[n];
      (*out.sum)(n) = w.bias ? x(n) + (*w.bias)(n) : x(n);
    }
  }
};

std::vector<double> Values(const Tensor<Rounded>& tensor) {
  std::vector<double> values;
  for (const Rounded& x : tensor.data) values.push_back(x.value());
  return values;
}

class NamedParameters : public testing::Test {
 public:
  void Evaluate() { Wrapped<NamedSum, false>(sum).Evaluate(inputs, outputs); }

  const ScopedRecipe recipe{ParseRecipe("exact", DType::kF64), DType::kF64};
  NamedSum sum;
  Tensors inputs = {{"x", DType::kF64, {{2}, {2, 3}}},
                    {"scale", DType::kF64, {{2}, {5, 7}}},
                    {"weight", DType::kF64, {{2, 2}, {10, 0, 0, 100}}},
                    {"bias", DType::kF64, {{2}, {40, 50}}}};
  Outputs<Rounded> outputs = {{DType::kF64, Tensor<Rounded>({2})},
                              {DType::kF64, Tensor<Rounded>({2})}};
};

TEST_F(NamedParameters, AreTheTensorsOfTheirNames) {
  Evaluate();
  EXPECT_THAT(Values(outputs[0].values), ElementsAre(100, 2100));
  EXPECT_THAT(Values(outputs[1].values), ElementsAre(42, 53));
}

TEST_F(NamedParameters, MayBeAbsentIfTheyAreOptional) {
  sum.reads_bias = false;
  Evaluate();  // a mutation may read fewer inputs than the case has
  EXPECT_THAT(Values(outputs[1].values), ElementsAre(2, 3));
  inputs.pop_back();
  Evaluate();
  EXPECT_THAT(Values(outputs[1].values), ElementsAre(2, 3));
}

TEST_F(NamedParameters, MustBeThereIfTheyAreRead) {
  inputs.pop_back();
  EXPECT_EQ(MessageOf([&] { Evaluate(); }), "there is no tensor 'bias'; there are: x scale weight");
}

TEST_F(NamedParameters, RefuseAMisspeltName) {
  SumWeights<Rounded>::kScale = "scael";
  EXPECT_EQ(MessageOf([&] { Evaluate(); }),
            "there is no tensor 'scael'; there are: x scale weight bias");
  SumWeights<Rounded>::kScale = "scale";
}

}  // namespace
}  // namespace sextant

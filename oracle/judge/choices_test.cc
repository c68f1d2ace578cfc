// Indices are judged beside the others, and weights by the indices that were answered.
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/judge/judge.h"

namespace sextant::oracle {
namespace {

using Status = Verdict::Status;

constexpr size_t kIndices = 0, kWeights = 1;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One token of a sigmoid router that does not renormalise; weights as f32 has them.
struct Routed {
  explicit Routed(std::vector<double> logits, size_t K = 2)
      : c(Case::Parse("router N=1 score=sigmoid renormalise=none E=" +
                      std::to_string(logits.size()) + " K=" + std::to_string(K))),
        inputs{{"logits", DType::kF32, Tensor<double>({1, logits.size()}, logits)}},
        answer(EvaluateByRecipe({c, inputs, recipe})) {}
  Verdict With(const std::vector<double>& indices) {
    for (size_t k = 0; k < indices.size(); ++k) {
      const auto expert = static_cast<size_t>(std::max(0.0, indices[k]));
      const auto& logits = inputs[0].values.data;
      answer[kIndices].values.data[k] = indices[k];
      answer[kWeights].values.data[k] =
          RoundTo(DType::kF32, Sigmoid(logits[std::min(expert, logits.size() - 1)]));
    }
    return Judge(c, inputs, recipe).Evaluate(answer);
  }

  Case c;
  Tensors inputs;
  Recipe recipe = ParseRecipe("native", DType::kF32);
  Tensors answer;
};

TEST(Choices, ChosenExpertsMayHaveAnyOrder) {
  Routed routed({1, 3, 2, 0});
  EXPECT_EQ(routed.With({1, 2}).grade, Grade::kExact);
  EXPECT_EQ(routed.With({2, 1}).grade, Grade::kExact);
}

TEST(Choices, AWorseExpertFailsAndItsWeightDoesNot) {
  const Verdict verdict = Routed({1, 3, 2, 0}).With({1, 0});
  EXPECT_EQ(verdict.status, Status::kFails);
  EXPECT_EQ(verdict.tensors[kIndices].failed, 1);
  EXPECT_EQ(verdict.tensors[kIndices].worst.where, "indices[0,1]");
  EXPECT_NEAR(verdict.tensors[kIndices].worst.error, Sigmoid(2) - Sigmoid(1), 1e-12);
  EXPECT_EQ(verdict.tensors[kWeights].failed, 0);
}

// 1 / (1 + e^-40) and 1 / (1 + e^-50) are 1 in f32, 1 / (1 + e^-10) is not.
TEST(Choices, WhatTheRecipeMakesEqualMayBeExchanged) {
  Routed routed({40, 50, 10}, 1);
  EXPECT_EQ(routed.With({1}).grade, Grade::kExact);
  EXPECT_EQ(routed.With({0}).grade, Grade::kWithin);
  EXPECT_EQ(routed.With({2}).status, Status::kFails);
}

TEST(Choices, EqualLogitsAreEquallyRight) {
  Routed routed({1, 2, 1, 1});
  for (const double other : {0.0, 2.0, 3.0})
    EXPECT_EQ(routed.With({1, other}).grade, Grade::kExact) << other;
}

TEST(Choices, NoIndexAndASecondOneFail) {
  Routed routed({1, 3, 2, 0});
  for (const double wrong : {-1.0, 4.0, 1.0, 1.5, 0x1p53, kNaN}) {
    const Verdict verdict = routed.With({1, wrong});
    EXPECT_EQ(verdict.status, Status::kFails) << wrong;
    EXPECT_EQ(verdict.tensors[kIndices].failed, 1) << wrong;
    EXPECT_EQ(verdict.tensors[kIndices].worst.where, "indices[0,1]") << wrong;
  }
}

TEST(Choices, AWeightOfAnotherExpertFails) {
  Routed routed({1, 3, 2, 0});
  routed.With({1, 2});
  std::swap(routed.answer[kWeights].values.data[0], routed.answer[kWeights].values.data[1]);
  const Verdict verdict = Judge(routed.c, routed.inputs, routed.recipe).Evaluate(routed.answer);
  EXPECT_EQ(verdict.tensors[kIndices].failed, 0);
  EXPECT_EQ(verdict.tensors[kWeights].failed, 2);
}

}  // namespace
}  // namespace sextant::oracle

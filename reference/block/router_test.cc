#include "reference/block/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reference/base/error_test.h"
#include "reference/case/case.h"
#include "reference/prove/prove.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;

using Numbers = std::vector<double>;

constexpr size_t kIndices = 0, kWeights = 1;

// One token, its logits and, unless there are none, the biases of its experts.
struct Token {
  Token(const std::string& words, Numbers logits, const Numbers& bias = {})
      : c(Case::Parse("router N=1 E=" + std::to_string(logits.size()) + " " + words +
                      (bias.empty() ? "" : " with=bias"))),
        inputs{{"logits", DType::kF32, Tensor<double>({1, logits.size()}, logits)}} {
    if (!bias.empty()) inputs.push_back({"bias", DType::kF32, Tensor<double>({bias.size()}, bias)});
  }
  std::vector<GoldenTensor> Proven() const { return Prove({c, inputs, by}); }
  Numbers Indices() const { return Proven()[kIndices].value.data; }
  Numbers Weights() const { return Proven()[kWeights].high.data; }
  // Of these indices: by how much each is exceeded, and the weights.
  std::pair<Numbers, Numbers> Of(const Numbers& indices) const {
    Tensors answer = EvaluateByRecipe({c, inputs, by});
    answer[kIndices].values.data = indices;
    const auto golden = Prove({c, inputs, by, c.operation(), &answer});
    Numbers excess;
    for (size_t k = 0; k < indices.size(); ++k)
      excess.push_back(golden[kIndices].high.data[k] - indices[k] + golden[kIndices].low.data[k]);
    return {excess, golden[kWeights].high.data};
  }
  // Whether no slot is exceeded by more than its permitted error.
  bool Permits(const Numbers& indices) const {
    Tensors answer = EvaluateByRecipe({c, inputs, by});
    answer[kIndices].values.data = indices;
    const auto reference = ProveAndPermit({c, inputs, by, c.operation(), &answer});
    for (size_t k = 0; k < indices.size(); ++k) {
      const GoldenTensor& golden = reference.golden[kIndices];
      const double excess = golden.high.data[k] - indices[k] + golden.low.data[k];
      EXPECT_EQ(golden.radius.data[k], 0) << "it is decided";
      if (excess > reference.permitted[kIndices].error.data[k]) return false;
    }
    return true;
  }
  Numbers ExcessOf(const Numbers& indices) const { return Of(indices).first; }

  Case c;
  Tensors inputs;
  Recipe by = ParseRecipe("native", DType::kF32);
};

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

MATCHER_P(IsNear, expected, "") { return std::abs(arg - expected) < 1e-15; }

// Logits are logarithms of 4, 1, 2 and 1 up to a common factor.
TEST(Router, RenormalisesTheSoftmaxOfTheBest) {
  const double ln2 = 0x1.62e43p-1;  // in f32
  const Numbers logits = {2 * ln2, 0, ln2, 0};
  const double sum = std::exp(2 * ln2) + std::exp(ln2);
  const Token token("K=2", logits);
  EXPECT_THAT(token.Indices(), ElementsAre(0, 2));
  EXPECT_THAT(token.Weights(),
              ElementsAre(IsNear(std::exp(2 * ln2) / sum), IsNear(std::exp(ln2) / sum)));
  EXPECT_THAT(Token("K=2 renormalise=none scale=2", logits).Weights(),
              ElementsAre(IsNear(2 * std::exp(2 * ln2) / (sum + 2)),
                          IsNear(2 * std::exp(ln2) / (sum + 2))));
}

TEST(Router, TheBiasCountsForTheChoiceAlone) {
  const Token token("K=2 score=sigmoid renormalise=none", {2, 1, 0, -1}, {-1, 0, 0, 1});
  EXPECT_THAT(token.Indices(), ElementsAre(3, 1));
  EXPECT_THAT(token.Weights(), ElementsAre(IsNear(Sigmoid(-1)), IsNear(Sigmoid(1))));
}

// Expert 0 is the best of all; the two of the last group are better together.
TEST(Router, GroupsAreChosenByTheSumOfTheirTwoBestOrByTheirBest) {
  const Numbers logits = {3, -5, 0, 0, 2, 2};
  EXPECT_THAT(Token("K=1 score=sigmoid groups=top2(n_group=3,topk_group=1)", logits).Indices(),
              ElementsAre(4));
  EXPECT_THAT(Token("K=1 score=sigmoid groups=max(n_group=3,topk_group=1)", logits).Indices(),
              ElementsAre(0));
  EXPECT_THAT(Token("K=2 score=sigmoid groups=top2(n_group=3,topk_group=2)", logits).Indices(),
              ElementsAre(4, 5))
      << "expert 0 is in a group that is left out";
}

TEST(Router, EpsIsAddedToTheSum) {
  const Numbers logits = {-50, -60};
  const double a = Sigmoid(-50), b = Sigmoid(-60);
  EXPECT_THAT(Token("K=1 score=sigmoid renormalise=sum(eps=1e-20)", logits).Weights(),
              ElementsAre(IsNear(a / (a + 1e-20))));
  EXPECT_THAT(Token("K=2 score=sigmoid", logits).Weights(),
              ElementsAre(IsNear(a / (a + b)), IsNear(b / (a + b))));
}

TEST(Router, TheExcessIsThatOfTheBestThatWasLeftOut) {
  const Token token("K=2 score=sigmoid", {1, 3, 2, 0});
  EXPECT_THAT(token.ExcessOf({2, 1}), Each(0)) << "in any order";
  EXPECT_THAT(token.ExcessOf({1, 0}), ElementsAre(0, IsNear(Sigmoid(2) - Sigmoid(1))));
  EXPECT_THAT(token.ExcessOf({3, 0}),
              ElementsAre(IsNear(Sigmoid(3) - Sigmoid(0)), IsNear(Sigmoid(3) - Sigmoid(1))));
}

TEST(Router, WeightsAreThoseOfTheAnsweredIndices) {
  const Token token("K=2 score=sigmoid", {1, 3, 2, 0});
  const double sum = Sigmoid(0) + Sigmoid(3);
  EXPECT_THAT(token.Of({3, 1}).second,
              ElementsAre(IsNear(Sigmoid(0) / sum), IsNear(Sigmoid(3) / sum)));
}

TEST(Router, WhatIsNoIndexOrASecondOneExceedsAll) {
  const Token token("K=2 score=sigmoid", {1, 3, 2, 0});
  for (const double wrong : {-1.0, 4.0, 1.0}) {
    const auto [excess, weights] = token.Of({1, wrong});
    EXPECT_EQ(excess[0], 0) << wrong;
    EXPECT_GT(excess[1], 1e15) << wrong;
    EXPECT_THAT(weights, Each(IsNan())) << wrong;
  }
}

// Experts 0 and 2 of 3 groups may not both be chosen, as only one group is.
TEST(Router, AGroupTooManyExceedsAll) {
  const Token token("K=2 score=sigmoid groups=max(n_group=3,topk_group=1)", {4, 1, 3, 2, 0, 0});
  EXPECT_THAT(token.ExcessOf({0, 1}), Each(0));
  EXPECT_GT(token.ExcessOf({0, 2})[1], 1e15);
  EXPECT_THAT(token.ExcessOf({2, 3}), Each(IsNear(Sigmoid(4) - Sigmoid(3)))) << "group 0 is better";
}

// Group 0 is certain, groups 1 and 2 are equal: either may be the second.
TEST(Router, OfEqualGroupsEachMayBeChosen) {
  const Token token("K=3 score=sigmoid groups=max(n_group=3,topk_group=2)", {4, 0, 3, 1, 3, 2});
  EXPECT_THAT(token.ExcessOf({0, 2, 3}), Each(0));
  EXPECT_THAT(token.ExcessOf({0, 4, 5}), Each(0));
  EXPECT_THAT(token.ExcessOf({0, 2, 1}), ElementsAre(0, 0, IsNear(Sigmoid(1) - Sigmoid(0))));
}

// Group 1 or 2, whichever is the second one, has an expert that is better than expert 1.
TEST(Router, AFreeGroupHasBetterExpertsWhicheverItIs) {
  const Token token("K=2 score=sigmoid groups=max(n_group=3,topk_group=2)", {6, 1, 5, 0, 5, 0});
  EXPECT_THAT(token.ExcessOf({0, 1}), ElementsAre(0, IsNear(Sigmoid(5) - Sigmoid(1))));
  EXPECT_FALSE(token.Permits({0, 1}));
  EXPECT_TRUE(token.Permits({0, 2}));
  EXPECT_TRUE(token.Permits({4, 0}));
  const Token four("K=2 score=sigmoid groups=max(n_group=4,topk_group=3)",
                   {6, 1, 5, 4, 5, 4, 5, 0});
  EXPECT_FALSE(four.Permits({0, 1}));
}

// The groups 1 and 2 have sums that f32 does not tell apart. With group 1 expert 2 is the best of
// all, with group 2 no other is better than those of group 0.
TEST(Router, AnotherGroupMayExcuseAChoice) {
  const Token token("K=2 score=sigmoid groups=top2(n_group=3,topk_group=2)", {3, 2, 40, -39, 0, 0});
  EXPECT_TRUE(token.Permits({0, 2}));
  EXPECT_TRUE(token.Permits({0, 1}));
  EXPECT_FALSE(token.Permits({0, 4}));
}

// What is permitted of a difference of experts is not taken from one of groups.
TEST(Router, EachDifferenceHasItsOwnError) {
  EXPECT_TRUE(Token("K=2 score=sigmoid renormalise=none groups=max(n_group=3,topk_group=2)",
                    {3, 17, -25, -25, -25, -25}, {0, -1, -0x1p-26, -1, -0x1p-25, -1})
                  .Permits({0, 1}));
}

// Member 1 errs more than member 0, which is the best of its group by a little.
TEST(Router, AGroupMayHaveAnotherBestMember) {
  EXPECT_TRUE(Token("K=1 score=sigmoid groups=max(n_group=2,topk_group=1)", {-25, 17, -25, -25},
                    {0x1p-25, -0x1.fffffep-1, 0x1.4p-25, -1})
                  .Permits({1}));
}

TEST(Router, OfEqualExpertsEachMayBeChosen) {
  const Token token("K=2", {1, 2, 1, 1});
  EXPECT_THAT(token.Indices(), ElementsAre(1, 0));
  for (const double other : {0.0, 2.0, 3.0}) EXPECT_THAT(token.ExcessOf({1, other}), Each(0));
}

TEST(Router, ANaNOrAnInfinityLeavesItsTokenUnspecified) {
  for (const double special : {kNaN, kInfinity, -kInfinity}) {
    const auto golden = Token("K=1", {1, special}).Proven();
    EXPECT_THAT(golden[kIndices].high.data, Each(IsNan()));
    EXPECT_THAT(golden[kWeights].high.data, Each(IsNan()));
    EXPECT_THAT(Token("K=1", {1, 2}, {0, special}).Proven()[kWeights].high.data, Each(IsNan()));
  }
}

// Without an answer, experts that the recipe may exchange have the distance of their indices as an
// error, and their weights are unknown if a bias tells them apart.
TEST(Router, PermitsExchanges) {
  const Case c = Case::Parse("router N=1 E=3 K=1 score=sigmoid with=bias");
  const auto errors_of = [&](double bias) {
    const Tensors inputs = {{"logits", DType::kF32, Tensor<double>({1, 3}, {1, 0, 2})},
                            {"bias", DType::kF32, Tensor<double>({3}, {bias, 0, 0})}};
    const auto permitted = PermittedErrors({c, inputs, ParseRecipe("native", DType::kF32)});
    return std::pair(permitted[kIndices].error.data[0], permitted[kWeights].error.data[0]);
  };
  EXPECT_EQ(errors_of(0).first, 0);
  EXPECT_LT(errors_of(0).second, 1e-6);
  const auto [distance, weight] = errors_of(static_cast<float>(Sigmoid(2) - Sigmoid(1)));
  EXPECT_FLOAT_EQ(distance, 2);
  EXPECT_EQ(weight, kInfinity);
}

TEST(Router, RefusesWhatCannotBeChosen) {
  const auto error = [](const std::string& words) {
    return MessageOf([&] { Case::Parse("router N=1 " + words); });
  };
  EXPECT_EQ(error("E=8 K=2 dtype.indices=f64"), "router: indices holds integers: its dtype is i64");
  EXPECT_EQ(error("E=0 K=0"), "router: E=0, expected 1 or more experts");
  EXPECT_EQ(error("E=8 K=9"),
            "router: K=9, expected 1 to 8, as many experts as can be chosen from");
  EXPECT_EQ(error("E=8 K=0"),
            "router: K=0, expected 1 to 8, as many experts as can be chosen from");
  EXPECT_EQ(error("E=8 K=5 groups=max(n_group=4,topk_group=2)"),
            "router: K=5, expected 1 to 4, as many experts as can be chosen from");
  EXPECT_EQ(error("E=8 K=1 groups=max(n_group=3,topk_group=1)"),
            "router: n_group=3, expected a divisor of E=8");
  EXPECT_EQ(error("E=8 K=1 groups=max(n_group=2,topk_group=3)"),
            "router: topk_group=3, expected 1 to n_group=2");
  EXPECT_EQ(error("E=4 K=1 groups=top2(n_group=4,topk_group=1)"),
            "router: n_group=4 leaves a group 1 expert, expected 2 or more for groups=top2");
  EXPECT_THAT(error("E=8 K=1 scale=0"), HasSubstr("scale=0, expected a number above 0"));
  EXPECT_THAT(error("E=8 K=1 renormalise=sum(eps=-1)"), HasSubstr("eps=-1, expected 0 or more"));
}

}  // namespace
}  // namespace sextant

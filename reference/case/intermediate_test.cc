#include "reference/case/intermediate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/number/real.h"

namespace sextant {
namespace {

using testing::ElementsAre;

std::vector<double> ValuesOf(const Tensor<Rounded>& tensor) {
  std::vector<double> values;
  for (const Rounded& x : tensor.data) values.push_back(x.value());
  return values;
}

struct Intermediates : testing::Test {
  const ScopedRecipe recipe{ParseRecipe("*=f32 keep=bf16", DType::kF32), DType::kF32};
  const Tensors given = {{"a", DType::kF32, Tensor<double>({2}, {5, 6})}};
  Tensor<Rounded> a{{2}, {Rounded(1 + 0x1p-20), Rounded(2)}}, b = a;
};

TEST_F(Intermediates, AreStoredWhereNothingIsTraced) {
  EXPECT_THAT(ValuesOf(Intermediate(a)), ElementsAre(1, 2));
  EXPECT_THAT(ValuesOf(a), ElementsAre(1, 2));
}

TEST_F(Intermediates, AreReplacedByTheTracedAnswer) {
  const ScopedTrace trace(given);
  ScopedOutputs outputs;
  outputs.Add("a", &a);
  outputs.Add("b", &b);
  EXPECT_FALSE(trace.used());
  EXPECT_THAT(ValuesOf(Intermediate(b)), ElementsAre(1, 2));  // no answer was given
  EXPECT_FALSE(trace.used());
  EXPECT_THAT(ValuesOf(Intermediate(a)), ElementsAre(5, 6));
  EXPECT_TRUE(trace.used());
  EXPECT_THAT(ValuesOf(a), ElementsAre(1, 2));  // what is answered stays the formula's own
}

// A tensor of an inner operation may have the name of an output of the outer one.
TEST_F(Intermediates, AreOutputsOfTheOperationUnderEvaluationAlone) {
  const ScopedTrace trace(given);
  ScopedOutputs outer;
  outer.Add("a", &a);
  EXPECT_THAT(ValuesOf(Intermediate(b)), ElementsAre(1, 2));
  {
    ScopedOutputs inner;
    inner.Add("c", &b);
    EXPECT_THAT(ValuesOf(Intermediate(a)), ElementsAre(1, 2));
  }
  EXPECT_THAT(ValuesOf(Intermediate(a)), ElementsAre(5, 6));
}

TEST_F(Intermediates, MayBeParts) {
  const ScopedTrace trace(given);
  ScopedOutputs outputs;
  outputs.Add("a", &a);
  Tensor<Rounded> second{{1}, {Rounded(9)}};
  EXPECT_THAT(ValuesOf(IntermediatePart(a, 1, second)), ElementsAre(6));
}

}  // namespace
}  // namespace sextant

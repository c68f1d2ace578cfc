// Operations evaluated in arrays have the bits of those evaluated in tensors.
#include "reference/case/array_operation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reference/case/draw.h"
#include "reference/case/operations.h"
#include "reference/number/counted/counted_bits_test.h"
#include "reference/prove/case_slices.h"

namespace sextant {
namespace {

// Level 1: enclosures of one number. level_1_test compares the errors.
void ExpectBothEnclose(const Counted& a, const Counted& b) {
  EXPECT_EQ(a.format(), b.format());
  EXPECT_EQ(std::isfinite(a.error()), std::isfinite(b.error()));
  EXPECT_EQ(std::isfinite(a.drift()), std::isfinite(b.drift()));
  const double reach = (a.drift() + b.drift()) * (1 + 0x1p-20);
  if (std::isfinite(reach)) {
    EXPECT_LE(std::abs((a.center() - b.center()).high), reach);
  }
}

// Compares all members of all numbers, if level 1 has the bits of level 2. False if the operation
// declines the case.
bool ExpectSame(const Case& c, const Recipe& recipe, bool double_centers) {
  SCOPED_TRACE(c.ToString() + " by " + recipe.name);
  const auto& in_arrays = dynamic_cast<const EvaluatesInArrays&>(c.operation());
  const Tensors inputs = DrawInputs(c);
  const ScopedRecipe following(recipe, c.dtype());
  const Scoped<&EvaluationContext::double_centers> level(double_centers);
  Outputs<Counted> whole = MakeOutputs<Counted>(c, {});
  const std::vector<Counted>& numbers = whole[0].values.data;
  CountedOutput y{CountedArrays(numbers.size())};
  if (!in_arrays.EvaluateInArrays(inputs, whole[0].dtype, y)) return false;
  c.operation().Evaluate(inputs, whole);
  for (size_t i = 0; i < numbers.size() && !testing::Test::HasFailure(); ++i) {
    const Counted found = y.numbers.Get(i, y.format);
    y.level_1 ? ExpectBothEnclose(found, numbers[i]) : ExpectSameBits(found, numbers[i]);
  }
  return true;
}

TEST(ArrayOperation, HasTheBitsOfTensors) {
  OnEveryTarget([] {
    Random random(1);
    for (const auto& operation : AllOperations()) {
      if (!dynamic_cast<const EvaluatesInArrays*>(operation.get())) continue;
      std::string choices = "dtype=f32|bf16|f16|f64";
      for (const TensorSpec& input : operation->info().signature.inputs)
        choices += " @" + input.name + "=normal|normal(30)|powers_of_two|special|one_hot";
      size_t compared = 0;
      for (int n = 0; n < 200; ++n) {
        const Case c = RandomCase(operation->info(), random, choices);
        const std::vector<std::string> recipes = {"native", "f32_compute", "exact", "native flush"};
        const Recipe recipe = ParseRecipe(random.OneOf(recipes), c.dtype());
        compared += ExpectSame(c, recipe, random.Below(2) == 0);
      }
      EXPECT_GE(compared, 50u) << operation->info().name;
    }
  });
}

}  // namespace
}  // namespace sextant

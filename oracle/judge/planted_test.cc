// Answers planted at the border of the permitted error: the last number inside conforms, and the
// next one fails, whatever enclosure decides the element.
#include "oracle/judge/planted_test.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reference/case/draw.h"
#include "reference/case/operations.h"

namespace sextant::oracle {
namespace {

size_t FailedIn(const Verdict& verdict) {
  size_t failed = 0;
  for (const TensorVerdict& tensor : verdict.tensors) failed += tensor.failed;
  return failed;
}

// Returns the number of planted answers that were judged.
size_t ExpectRightVerdicts(const std::string& line, const std::string& recipe_name, uint64_t seed) {
  const Case c = Case::Parse(line);
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe(recipe_name, c.dtype());
  const auto reference = ProveAndPermit({c, inputs, recipe});
  Random random(seed);
  const Planted planted(reference, random);
  const Judge judge(c, inputs, recipe);
  const Verdict inside = judge.Evaluate(planted.inside), outside = judge.Evaluate(planted.outside);
  EXPECT_EQ(FailedIn(inside), 0u) << line << " " << recipe_name;
  EXPECT_EQ(FailedIn(outside), planted.places.size()) << line << " " << recipe_name;
  // An intermediate at the border of its end-to-end error may fail in the trace.
  if (!planted.places.empty() && inside.trace.empty()) {
    EXPECT_NE(inside.status, Verdict::Status::kFails) << line;
    EXPECT_EQ(outside.status, Verdict::Status::kFails) << line;
  }
  return planted.places.size();
}

TEST(Planted, NumbersAtTheBorderAreJudgedRightInEveryType) {
  for (const char* dtype : {"f32", "bf16", "f16", "f64"}) {
    for (const char* recipe : {"native", "f32_compute"}) {
      size_t judged = 0;
      for (size_t n = 0; n < kPlantedLines.size(); ++n)
        judged += ExpectRightVerdicts(kPlantedLines[n] + " dtype=" + dtype, recipe, n);
      EXPECT_GT(judged, 100u) << dtype << " " << recipe;
    }
  }
}

TEST(SlowPlanted, NumbersAtTheBorderAreJudgedRightInRandomCases) {
  Random random(11);
  size_t judged = 0;
  for (const auto& operation : AllOperations()) {
    if (operation->info().HasCodes()) continue;  // they depend on the planted scale: codes_test.cc
    for (int n = 0; n < 20; ++n) {
      const Case c = AnyCase(operation->info(), random);
      judged += ExpectRightVerdicts(c.ToString(), "native", random.Below(1000));
    }
  }
  EXPECT_GT(judged, 2000u);
}

}  // namespace
}  // namespace sextant::oracle

// Centres at the ends of their enclosures, the farthest that level 1 permits, give the verdicts of
// proven values: also on answers at the border of the permitted error.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "oracle/judge/planted_test.h"
#include "reference/case/draw.h"
#include "reference/case/operations.h"
#include "reference/number/double_double/double_double.h"

namespace sextant::oracle {
namespace {

// Moves every centre of level 1 to an end of its enclosure, chosen by chance, and doubles the
// radius, so that the exact value remains enclosed. Returns their number.
size_t Shift(ProvenAndPermitted& reference, Random& random) {
  size_t shifted = 0;
  for (GoldenTensor& g : reference.golden) {
    for (size_t i = 0; i < g.radius.data.size(); ++i) {
      const double r = -g.radius.data[i];
      if (!(r > 0)) continue;
      ++shifted;
      const DoubleDouble end =
          DoubleDouble(g.high.data[i], g.low.data[i]) + DoubleDouble(random.Below(2) ? r : -r);
      g.high.data[i] = end.high;
      g.low.data[i] = end.low;
      g.value.data[i] = RoundTo(g.dtype, end);
      // The sum in double-double is rounded: 2^-100 of the centre.
      g.radius.data[i] = -(2 * r + std::abs(end.high) * 0x1p-100);
    }
  }
  return shifted;
}

void ExpectSameVerdictOf(const Verdict& a, const Verdict& b, const std::string& line) {
  EXPECT_EQ(a.status, b.status) << line;
  EXPECT_EQ(a.grade, b.grade) << line;
  ASSERT_EQ(a.tensors.size(), b.tensors.size()) << line;
  for (size_t t = 0; t < a.tensors.size(); ++t) {
    const TensorVerdict &x = a.tensors[t], &y = b.tensors[t];
    EXPECT_EQ(x.grade, y.grade) << line;
    EXPECT_EQ(x.failed, y.failed) << line;
    EXPECT_EQ(x.judged, y.judged) << line;
    EXPECT_EQ(x.unlikely, y.unlikely) << line;
    EXPECT_EQ(x.worst.where, y.worst.where) << line;
    EXPECT_EQ(x.worst.expected, y.worst.expected) << line;
    EXPECT_EQ(x.worst.permitted, y.worst.permitted) << line;
  }
}

// Returns the number of centres that were moved.
size_t ExpectSameVerdicts(const std::string& line, Random& random) {
  const Case c = Case::Parse(line);
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  const ProvenAndPermitted proven = ProveAndPermit({c, inputs, recipe});
  const Planted planted(proven, random);
  const Tensors correct = EvaluateByRecipe({c, inputs, recipe});
  size_t shifted = 0;
  for (const Tensors& answer : {correct, planted.inside, planted.outside}) {
    ProvenAndPermitted moved = Enclose({c, inputs, recipe});
    shifted += Shift(moved, random);
    const Judge by_proof(c, inputs, recipe, proven), by_ends(c, inputs, recipe, moved);
    ExpectSameVerdictOf(by_ends.Evaluate(answer), by_proof.Evaluate(answer), line);
  }
  return shifted;
}

// Elements of level 1 whose permitted errors are farther from the proven ones than Enclose states.
struct Margins {
  size_t enclosed = 0, beyond = 0;
};
Margins MarginsOf(const std::string& line) {
  const Case c = Case::Parse(line);
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  const auto a = Enclose({c, inputs, recipe});
  const auto b = ProveAndPermit({c, inputs, recipe});
  Margins margins;
  for (size_t o = 0; o < a.golden.size(); ++o) {
    for (size_t i = 0; i < a.golden[o].radius.data.size(); ++i) {
      const double r = -a.golden[o].radius.data[i], permitted = b.permitted[o].error.data[i];
      if (!(r > 0)) continue;
      ++margins.enclosed;
      const double distance = std::abs(a.permitted[o].error.data[i] - permitted);
      margins.beyond += !(distance <= 2 * r + permitted * 0x1p-40);
    }
  }
  return margins;
}

// Products by one-hot vectors and powers of two are exact: level 2 charges no rounding there. Where
// the errors of exponents are large, permitted errors grow with the drift: those elements climb.
TEST(Adversarial, PermittedErrorsLieWithinTheStatedMarginInHardCases) {
  size_t enclosed = 0;
  for (const char* line :
       {"attention soft_cap=2 mask=none B=2 D=1 E=4 H=2 K=2 S=5 T=5 dtype=f16 seed=653 "
        "@k=powers_of_two @q=one_hot",
        "attention H=1 K=1 S=8 T=4 D=1 E=1 dtype=bf16 @k=8.673617379884035e-19,3,5,1",
        "attention H=4 K=2 S=9 T=40 D=16 dtype=f32 @q=normal(500) @k=normal(500)",
        "attention H=4 K=2 S=9 T=40 D=16 dtype=f32 @q=normal(1400) @k=normal(1400)",
        "attention H=1 K=1 S=8 T=64 D=128 scale=1 dtype=bf16 @q=normal(10) @k=normal(10)",
        "attention H=1 K=1 S=8 T=64 D=128 scale=1 dtype=f32 @q=normal(100) @k=normal(100)",
        "softmax N=4 M=40 dtype=f32 @x=normal(3000)",
        "attention mask=causal align=top_left window=[1,0] key_length=[4,2] B=2 D=6 E=1 H=1 K=1 "
        "S=3 "
        "T=4 dtype=bf16 seed=108 @k=normal(30) @q=powers_of_two @v=normal(30)"}) {
    const Margins margins = MarginsOf(line);
    EXPECT_EQ(margins.beyond, 0u) << "of " << margins.enclosed << " elements of " << line;
    enclosed += margins.enclosed;
  }
  EXPECT_GT(enclosed, 100u);
}

TEST(SlowAdversarial, PermittedErrorsLieWithinTheStatedMargin) {
  Random random(21);
  for (const auto& operation : AllOperations()) {
    Margins all;
    for (int n = 0; n < 20; ++n) {
      const Margins margins = MarginsOf(AnyCase(operation->info(), random).ToString());
      all.enclosed += margins.enclosed;
      all.beyond += margins.beyond;
    }
    EXPECT_EQ(all.beyond, 0u) << "of " << all.enclosed << ": " << operation->info().name;
  }
}

TEST(Adversarial, CentresAtTheEndsOfTheirEnclosuresHaveTheVerdictsOfProvenValues) {
  Random random(5);
  for (const char* dtype : {"f32", "bf16", "f16"}) {
    size_t shifted = 0;
    for (const std::string& line : kPlantedLines)
      shifted += ExpectSameVerdicts(line + " dtype=" + dtype, random);
    EXPECT_GT(shifted, 300u) << dtype;
  }
}

TEST(SlowAdversarial, InEveryOperation) {
  Random random(6);
  size_t shifted = 0;
  for (const auto& operation : AllOperations()) {
    for (int n = 0; n < 4; ++n)
      shifted += ExpectSameVerdicts(AnyCase(operation->info(), random).ToString(), random);
  }
  EXPECT_GT(shifted, 500u);
}

}  // namespace
}  // namespace sextant::oracle

// The levels of the ladder agree: levels 1 and 2 (Counted) enclose what level 3 (Interval) finds,
// and both engines prove the same numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/case/operations.h"
#include "reference/case/random_test.h"
#include "reference/number/exact/decision.h"
#include "reference/number/exact/interval.h"
#include "reference/prove/enclosures_test.h"
#include "reference/prove/proof_test.h"
#include "reference/prove/prove.h"

namespace sextant {
namespace {

// Cases of every family, with long sums, cancellation, huge and tiny numbers.
const std::vector<std::string> kLines = {
    "rope_frequencies R=64 base=500000 scaling=llama3(factor=8)",
    "rope_table B=1 R=32 S=40 @position=random_positions",
    "rope_table B=1 R=16 S=400 @position=-399..0",
    "rope_table B=1 R=16 S=4 @position=-1048577,-131071,131071,1048577",
    "rope pairing=half H=2 S=9 D=16 dtype=bf16 @position=random_positions",
    "rope pairing=interleaved H=2 S=9 D=16 dtype=f64 @position=random_positions",
    "rms_norm N=4 M=300 dtype=f32",
    "rms_norm N=4 M=64 dtype=f64 eps=0 @x=normal(1e-100)",
    "layer_norm N=4 M=100 dtype=f16",
    "softmax N=6 M=300 dtype=bf16 @x=normal(30)",
    "softmax N=6 M=30 dtype.x=f8_e5m2 dtype.y=f8_e4m3fn",
    "linear N=4 M=50 F=6 dtype=bf16 dtype.weight=f8_e4m3fnuz dtype.y=f8_e5m2",
    "softmax N=6 M=300 dtype=f64 @x=normal(0.01)",
    "attention H=4 K=2 S=9 T=20 D=16 mask=causal dtype=bf16",
    "attention H=2 K=2 S=5 T=300 D=16 dtype=f64 soft_cap=3",
    "linear N=4 M=500 F=6 dtype=f32",
    "feed_forward N=3 M=20 F=30 dtype=bf16",
    "activation kind=gelu N=20 F=30 dtype=f32 @x=normal(4)",
    "activation kind=gelu_tanh N=20 F=30 dtype=bf16 @x=normal(4)",
    "activation kind=swish N=20 F=30 dtype=f64 @x=normal(30)",
};

// Their forms differ, and so do the centres.
constexpr const char* kRecipes[] = {"native", "f32_compute", "all_native", "exact"};

// Expects that the centre and drift of every element enclose the exact value. Elements without a
// finite drift, or out of the range of double-double, are left out; returns the number of others.
size_t ExpectEnclosures(const Case& c, const Recipe& recipe) {
  size_t enclosed = 0;
  ForEachEnclosure(c, recipe, 600, [&](size_t o, size_t i, const Counted& y, const Interval& x) {
    ++enclosed;
    EXPECT_LE(LeastDistance(x, y.center().high, y.center().low), y.drift())
        << c.ToString() << ", output " << o << ", element " << i;
  });
  return enclosed;
}

// An enclosure of the same numbers whose centre is an end of the enclosure: the farthest centre
// that the drift permits.
Counted Shifted(const Counted& y, int side) {
  const DoubleDouble end = y.center() + side * y.drift();
  return Counted::Of(end, 2 * y.drift() + DriftOf(end, 2), y.format(), y.saturated());
}

// Expects that level 2 decides no element otherwise than level 3, whichever end of its enclosure is
// its centre. Returns the number of elements that it decides with both.
size_t ExpectEqualDecisions(const Case& c, const Recipe& recipe) {
  const auto mpfr = Prove({c, DrawInputs(c), recipe}, {.engine = Engine::kMpfr});
  size_t decided = 0;
  ForEachEnclosure(c, recipe, 600, [&](size_t o, size_t i, const Counted& y, const Interval&) {
    const GoldenTensor& g = mpfr[o];
    const Decision proven{g.value.data[i], g.high.data[i], g.low.data[i]};
    size_t sides = 0;
    for (const int side : {-1, 0, 1}) {
      auto decision = Decide(Shifted(y, side), g.dtype);
      if (!decision) continue;
      if (g.choice != Choice::kNone)
        decision->value = Chosen(g.choice, g.dtype, decision->high, decision->low) + 0.0;
      ++sides;
      EXPECT_EQ(g.radius.data[i], 0) << c.ToString() << ", output " << o << ", element " << i;
      EXPECT_TRUE(*decision == proven)
          << c.ToString() << ", output " << o << ", element " << i << ", side " << side
          << ": low is " << decision->low << ", by MPFR " << proven.low;
    }
    decided += sides == 3;
  });
  return decided;
}

void ExpectEqualEngines(const Case& c, const Recipe& recipe) {
  const Tensors inputs = DrawInputs(c);
  const auto ladder = Prove({c, inputs, recipe});
  const auto mpfr = Prove({c, inputs, recipe}, {.engine = Engine::kMpfr});
  const auto expect_equal = [&](const Tensor<double>& a, const Tensor<double>& b) {
    for (size_t i = 0; i < a.data.size(); ++i) {
      EXPECT_TRUE(a.data[i] == b.data[i] || (std::isnan(a.data[i]) && std::isnan(b.data[i])))
          << c.ToString() << ", element " << i << ": " << a.data[i] << " by the ladder, "
          << b.data[i] << " by MPFR";
    }
  };
  for (size_t o = 0; o < ladder.size(); ++o) {
    expect_equal(ladder[o].value, mpfr[o].value);
    expect_equal(ladder[o].high, mpfr[o].high);
    expect_equal(ladder[o].low, mpfr[o].low);
    expect_equal(ladder[o].radius, mpfr[o].radius);
    expect_equal(ladder[o].permitted, mpfr[o].permitted);
  }
}

TEST(Ladder, Level2EnclosesTheExactValues) {
  for (const std::string& line : kLines) {
    const Case c = Case::Parse(line);
    for (const char* recipe : kRecipes)
      EXPECT_GT(ExpectEnclosures(c, ParseRecipe(recipe, c.dtype())), 0U) << line << " " << recipe;
  }
}

TEST(Ladder, Level1EnclosesTheExactValues) {
  const Scoped<&EvaluationContext::double_centers> level_1(true);
  for (const std::string& line : kLines) {
    const Case c = Case::Parse(line);
    for (const char* recipe : kRecipes)
      EXPECT_GT(ExpectEnclosures(c, ParseRecipe(recipe, c.dtype())), 0U) << line << " " << recipe;
  }
}

TEST(Ladder, BothEnginesProveTheSameNumbers) {
  for (const std::string& line : kLines) {
    const Case c = Case::Parse(line);
    for (const char* recipe : kRecipes) ExpectEqualEngines(c, ParseRecipe(recipe, c.dtype()));
  }
}

TEST(Ladder, CentresAtTheEndsOfTheirEnclosuresProveTheSameNumbers) {
  for (const std::string& line : kLines) {
    const Case c = Case::Parse(line);
    for (const char* recipe : {"native", "exact"})
      EXPECT_GT(ExpectEqualDecisions(c, ParseRecipe(recipe, c.dtype())), 0U) << line;
  }
}

TEST(SlowLadder, LevelsAgreeInEveryOperation) {
  Random random(2);
  for (const auto& operation : AllOperations()) {
    size_t enclosed = 0;
    for (int i = 0; i < 100; ++i) {
      const Case c = AnyCase(operation->info(), random);
      const Recipe recipe = ParseRecipe(kRecipes[random.Below(std::size(kRecipes))], c.dtype());
      ExpectEqualEngines(c, recipe);
      try {
        enclosed += ExpectEnclosures(c, recipe);
        ExpectEqualDecisions(c, recipe);
        const Scoped<&EvaluationContext::double_centers> level_1(true);
        enclosed += ExpectEnclosures(c, recipe);
      } catch (const Undecided&) {  // 600 bits do not suffice for a decision of the formula
      }
    }
    EXPECT_GT(enclosed, 0U) << operation->info().name;
  }
}

}  // namespace
}  // namespace sextant

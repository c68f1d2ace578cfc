// Facts about Prove and Confirm that hold for every operation: cases are drawn at random.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/case/operations.h"
#include "reference/case/random_test.h"
#include "reference/prove/proof_test.h"
#include "reference/prove/prove.h"

namespace sextant {
namespace {

// |answer - (high + low)|; the difference of the near numbers is exact.
double ErrorOf(const GoldenTensor& g, size_t i, double answer) {
  if (answer == g.high.data[i]) return 0;  // infinities too
  return std::abs((answer - g.high.data[i]) - g.low.data[i]);
}

const char* const kPositions =
    "sequence|hard|borders|random_positions|sequence(-3)|sequence(1099511627776)";

// Cases of the operation with everything that matters drawn at random, positions and sizes too.
Case AnyCase(const OperationInfo& info, Random& random) {
  std::string more = "dtype=f32|bf16|f16|f64";
  for (const TensorSpec& input : info.signature.inputs) {
    const bool of_table = info.draw.find(input.name + "=random_positions(V)") != info.draw.npos;
    if (input.role == Role::kInteger && !of_table) more += " @" + input.name + "=" + kPositions;
    const bool circle = info.draw.find(input.name + "=circle") != info.draw.npos;
    if (input.role == Role::kCase && !circle)
      more += " @" + input.name + "=normal|normal(30)|powers_of_two|special|one_hot";
  }
  return RandomCase(info, random, more);
}

// Two sums of two doubles are 2^-106 of an element apart at most, 2^-6 units.
TEST(SlowConfirm, ASecondLibraryAgreesOnEveryOperation) {
  Random random(1);
  for (const auto& operation : AllOperations()) {
    for (int i = 0; i < 25; ++i) {
      const Proof proof = ProofOf(AnyCase(operation->info(), random).ToString());
      const Confirmation found = Confirm(proof.c, proof.inputs, proof.golden);
      EXPECT_LE(found.worst, 0x1p-6) << proof.c.ToString() << " at " << found.where;
    }
  }
}

// The largest part of the permitted error that the recipe's own implementation needs.
double WorstRatio(const Proof& proof, const std::string& recipe) {
  const Tensors answer = AnswerBy(proof.c, proof.inputs, ParseRecipe(recipe, proof.c.dtype()));
  double worst = 0;
  for (size_t o = 0; o < answer.size(); ++o) {
    const GoldenTensor& g = proof.golden[o];
    for (size_t i = 0; i < g.high.data.size(); ++i) {
      if (std::isnan(g.high.data[i]) || g.permitted.data[i] == INFINITY) continue;
      const double error = ErrorOf(g, i, answer[o].values.data[i]);
      const double permitted = g.permitted.data[i];
      EXPECT_LE(error, permitted) << proof.c.ToString() << " by " << recipe << " at "
                                  << IndexText(g.name, g.high.shape, i);
      if (!(error <= permitted)) return INFINITY;
      if (error > 0) worst = std::max(worst, error / permitted);
    }
  }
  return worst;
}

TEST(SlowPermit, NoRecipeExceedsWhatItPermits) {
  const std::vector<std::string> recipes = {"native",
                                            "f32_compute",
                                            "all_native",
                                            "exact",
                                            "exact_table",
                                            "exp_log",
                                            "power_chain",
                                            "iterated",
                                            "*=f32 sum=f32:pairwise",
                                            "*=f64 angle=bf16 scale=T",
                                            "*=f16 rsqrt=f32 table=f64"};
  Random random(2);
  size_t elements = 0;
  while (elements < 1000000) {
    for (const auto& operation : AllOperations()) {
      const std::string recipe = random.Of(recipes);
      const Proof proof = ProofOf(AnyCase(operation->info(), random).ToString(), recipe);
      WorstRatio(proof, recipe);
      ASSERT_FALSE(HasFailure());
      for (const GoldenTensor& g : proof.golden) elements += g.high.data.size();
    }
  }
}

// Tight enough to hurt: an implementation needs a quarter of what it is permitted.
TEST(SlowPermit, RopeNeedsAQuarterOfWhatIsPermitted) {
  for (const char* dtype : {"f32", "bf16", "f16", "f64"}) {
    for (const char* position : {"sequence", "sequence(4000)", "random_positions(131072)"}) {
      const Proof proof = ProofOf(std::string("rope pairing=half H=4 S=128 D=128 dtype=") + dtype +
                                  " @position=" + position);
      EXPECT_GE(WorstRatio(proof, "native"), 0.25) << proof.c.ToString();
    }
  }
}

}  // namespace
}  // namespace sextant

#include "reference/prove/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/case/operations.h"
#include "reference/case/random_test.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

constexpr char kLine[] = "rms_norm N=100 M=4 dtype=f32";

size_t ComputedIn(const std::vector<GoldenTensor>& golden) {
  size_t count = 0;
  for (const GoldenTensor& g : golden)
    count += static_cast<size_t>(
        std::ranges::count_if(g.radius.data, [](double radius) { return !std::isnan(radius); }));
  return count;
}

std::vector<GoldenTensor> Within(const Budget& budget, const std::string& line) {
  const ScopedBudget within(budget);
  return ProofOf(line).golden;
}

void ExpectSameWhereComputed(const std::vector<double>& part, const std::vector<double>& whole,
                             const std::vector<double>& radius) {
  for (size_t i = 0; i < part.size(); ++i) {
    if (std::isnan(radius[i]))
      EXPECT_TRUE(std::isnan(part[i]));
    else
      EXPECT_TRUE(SameNumber(part[i], whole[i]));
  }
}

// Proofs, permitted errors and predictions have the numbers of the whole case in the same part.
TEST(Budget, ComputesAPartOfEveryOperation) {
  Random random(1);
  size_t parts = 0;
  for (const auto& operation : AllOperations()) {
    const Case c = RandomCase(operation->info(), random, "");
    const Tensors inputs = DrawInputs(c);
    const Recipe recipe = ParseRecipe("native", c.dtype());
    const auto golden = Prove({c, inputs, recipe});
    const auto permitted = PermittedErrors({c, inputs, recipe});
    const Tensors answer = EvaluateByRecipe({c, inputs, recipe});
    const ScopedBudget within({.elements = ComputedIn(golden) / 2 + 1, .seed = 7});
    const auto part = Prove({c, inputs, recipe});
    const auto part_permitted = PermittedErrors({c, inputs, recipe});
    const Tensors part_answer = EvaluateByRecipe({c, inputs, recipe});
    parts += ComputedIn(part) < ComputedIn(golden);
    for (size_t o = 0; o < part.size(); ++o) {
      const std::vector<double>& radius = part[o].radius.data;
      ExpectSameWhereComputed(part[o].value.data, golden[o].value.data, radius);
      ExpectSameWhereComputed(part[o].permitted.data, golden[o].permitted.data, radius);
      ExpectSameWhereComputed(part_permitted[o].error.data, permitted[o].error.data, radius);
      ExpectSameWhereComputed(part_answer[o].values.data, answer[o].values.data, radius);
    }
  }
  EXPECT_GT(parts, 20u);
}

// The first and the last row are always computed.
TEST(Budget, IsNotExceededByOtherSlicesThanTheFirstAndLast) {
  EXPECT_EQ(ComputedIn(Within({.elements = 40, .seed = 1}, kLine)), 40u);
  EXPECT_EQ(ComputedIn(Within({.elements = 43, .seed = 1}, kLine)), 40u);
  EXPECT_EQ(ComputedIn(Within({.elements = 1, .seed = 1}, kLine)), 8u);
  EXPECT_EQ(ComputedIn(Within({.elements = 400, .seed = 1}, kLine)), 400u);
  EXPECT_EQ(ComputedIn(Within({}, kLine)), 400u);
}

// Proofs take larger slices than the search for causes does.
TEST(Budget, SlicesOfEverySizeCoverTheSameElements) {
  const Case c = Case::Parse("rms_norm N=8000 M=8");
  const TensorSpec& y = c.info().signature.outputs[0];
  const ScopedBudget within({.elements = 20000, .seed = 3});
  const auto covered = [&](size_t elements) {
    std::vector<size_t> all;
    for (const Slice& slice : SlicesInBudget(c, elements)) {
      const auto indices = IndicesIn(c.ShapeOf(y), y, slice);
      EXPECT_LE(indices.size(), std::max<size_t>(elements, 8));
      all.insert(all.end(), indices.begin(), indices.end());
    }
    return all;
  };
  const std::vector<size_t> proven = covered(1 << 15);
  EXPECT_GT(proven.size(), 15000u);
  EXPECT_EQ(covered(256), proven);
  EXPECT_EQ(covered(1), proven);
}

TEST(Budget, HasTheSliceOfEachOfItsElements) {
  const Case c = Case::Parse("rope pairing=half B=2 H=3 S=50 D=8");
  const TensorSpec& y = c.info().signature.outputs[0];
  for (const size_t elements : {0, 600}) {  // 0: all
    const ScopedBudget within({.elements = elements, .seed = 3});
    const SlicesByIndex by_index(c, 16);
    const std::vector<Slice> slices = SlicesInBudget(c, 16);
    ASSERT_EQ(by_index.size(), slices.size());
    for (size_t i = 0; i < slices.size(); ++i) {
      for (const size_t flat : IndicesIn(c.ShapeOf(y), y, slices[i]))
        EXPECT_EQ(by_index.With(y, flat).ranges, slices[i].ranges);
    }
  }
}

TEST(Budget, ChoosesByTheSeed) {
  const auto chosen = [](uint64_t seed) {
    std::vector<bool> computed;
    const auto golden = Within({.elements = 40, .seed = seed}, kLine);
    for (const double radius : golden[0].radius.data) computed.push_back(!std::isnan(radius));
    return computed;
  };
  EXPECT_EQ(chosen(1), chosen(1));
  EXPECT_NE(chosen(1), chosen(2));
}

// Later computations within the budget have the part that the first one reached.
TEST(Budget, EndsWhenThereIsNoTime) {
  const Case c = Case::Parse(kLine);
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  for (const size_t most : {0, 1, 10, 97, 98, 1000}) {
    size_t asked = 0;
    const ScopedBudget within({.seed = 5, .has_time = [&] { return asked++ < most; }});
    const auto permitted = PermittedErrors({c, inputs, recipe});
    const auto golden = Prove({c, inputs, recipe});
    const size_t rows = std::min<size_t>(2 + most, 100);
    EXPECT_EQ(ComputedIn(golden), 4 * rows) << most;
    for (size_t i = 0; i < 400; ++i)
      EXPECT_EQ(std::isnan(golden[0].radius.data[i]), std::isnan(permitted[0].error.data[i]));
    EXPECT_LE(asked, most + 1);
    const std::optional<Sample> sample = SampleIn(c);
    ASSERT_EQ(sample.has_value(), rows < 100) << most;
    if (!sample) continue;
    EXPECT_EQ(std::pair(sample->elements, sample->all_elements), std::pair(4 * rows, size_t{400}));
    EXPECT_EQ(std::pair(sample->slices, sample->all_slices), std::pair(rows, size_t{100}));
    const auto again = Within({.elements = sample->elements, .seed = sample->seed}, kLine);
    for (size_t i = 0; i < 400; ++i)
      EXPECT_TRUE(SameNumber(again[0].value.data[i], golden[0].value.data[i])) << i;
  }
}

TEST(Budget, WithTimeTakesAHugeSliceInParts) {
  const Case c = Case::Parse("rms_norm N=100 M=4");
  size_t calls = 0, elements = 0;
  const TensorSpec& y = c.info().signature.outputs[0];
  const ScopedBudget within({.has_time = [] { return true; }});
  double done = 0;
  ForEachSliceInBudget(
      c, 4, 1,
      [&](const Slice& slice) {
        ++calls;
        elements += IndicesIn(c.ShapeOf(y), y, slice).size();
      },
      [&](double part) { done = part; });
  EXPECT_EQ(calls, 100u);
  EXPECT_EQ(elements, 400u);
  EXPECT_EQ(done, 1);
  EXPECT_FALSE(SampleIn(c));
}

TEST(Budget, DoesNotCutWhatDependsOnEverything) {
  EXPECT_EQ(ComputedIn(Within({.elements = 1}, "rope_frequencies R=8")), 5u);
}

TEST(Budget, EndsWithItsScope) {
  { const ScopedBudget within({.elements = 4}); }
  EXPECT_FALSE(HasBudget());
}

}  // namespace
}  // namespace sextant

#include "reference/prove/sample_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "reference/case/operations.h"
#include "reference/case/random_test.h"

namespace sextant {
namespace {

// (batch, head, first query, queries) of every slice.
struct Place {
  explicit Place(const Slice& slice) {
    const auto at = [&slice](const char* letter) {
      const auto range = slice.ranges.find(letter);
      return range == slice.ranges.end() ? std::pair<size_t, size_t>{0, 1} : range->second;
    };
    b = at("B").first, h = at("H").first, s = at("S").first, rows = at("S").second;
  }
  size_t b = 0, h = 0, s = 0, rows = 0;
};

TEST(SamplePlan, HasEveryElementOfEveryOperationOnce) {
  Random random(3);
  for (const auto& operation : AllOperations()) {
    const Case c = RandomCase(operation->info(), random, "");
    const SamplePlan plan = PlanOf(c, random.Below(100));
    EXPECT_LE(plan.always, plan.slices.size());
    for (const TensorSpec& spec : c.info().signature.outputs) {
      std::vector<size_t> all, expected(CountOf(c.ShapeOf(spec)));
      for (size_t i = 0; i < expected.size(); ++i) expected[i] = i;
      bool has_axes = true;
      for (const auto& [letter, range] : plan.slices[0].ranges)
        has_axes = has_axes && std::ranges::count(spec.extents, letter) > 0;
      for (const Slice& slice : plan.slices) {
        const auto indices = IndicesIn(c.ShapeOf(spec), spec, slice);
        all.insert(all.end(), indices.begin(), indices.end());
      }
      std::ranges::sort(all);
      // An output without one of the axes (a factor per token) is in several slices.
      if (!has_axes) all.erase(std::unique(all.begin(), all.end()), all.end());
      EXPECT_EQ(all, expected) << c.ToString();
    }
  }
}

// 4 heads of 64 queries: 256 slices of one query.
TEST(SamplePlan, BeginsWithTheFirstAndLastSliceOfEveryHead) {
  const SamplePlan plan = PlanOf(Case::Parse("attention H=4 K=2 S=64 T=64 D=8"), 1);
  ASSERT_EQ(plan.slices.size(), 256u);
  ASSERT_EQ(plan.always, 8u);
  std::set<std::pair<size_t, size_t>> always;
  for (size_t i = 0; i < plan.always; ++i) {
    const Place at(plan.slices[i]);
    EXPECT_EQ(at.rows, 1u);
    always.emplace(at.h, at.s);
  }
  EXPECT_THAT(always, testing::ElementsAre(std::pair(0, 0), std::pair(0, 63), std::pair(1, 0),
                                           std::pair(1, 63), std::pair(2, 0), std::pair(2, 63),
                                           std::pair(3, 0), std::pair(3, 63)));
}

TEST(SamplePlan, EveryBeginningIsSpreadEvenlyOverBatchesAndHeads) {
  const SamplePlan plan = PlanOf(Case::Parse("attention B=3 H=5 K=5 S=20 T=64 D=8"), 9);
  ASSERT_EQ(plan.slices.size(), 300u);
  std::map<std::pair<size_t, size_t>, size_t> counts;
  for (size_t i = 0; i < plan.slices.size(); ++i) {
    const Place at(plan.slices[i]);
    ++counts[{at.b, at.h}];
    if (i + 1 < plan.always) continue;
    const auto [least, most] = std::ranges::minmax(counts | std::views::values);
    EXPECT_EQ(counts.size(), 15u);
    EXPECT_LE(most, least + 1) << i;
  }
}

// 32 heads of 128 slices: the first and the last one have one query each.
TEST(SamplePlan, CutsLargeCasesIntoAtMostSoManySlices) {
  const SamplePlan plan = PlanOf(Case::Parse("attention H=32 K=8 S=2048 T=2048 D=128"), 1);
  EXPECT_EQ(plan.slices.size(), kMostPlanned);
  EXPECT_EQ(plan.always, 64u);
  size_t queries = 0;
  for (size_t i = 0; i < plan.slices.size(); ++i) {
    const Place at(plan.slices[i]);
    queries += at.rows;
    if (i < plan.always)
      EXPECT_EQ(at.rows, 1u);
    else
      EXPECT_THAT(at.rows, testing::AllOf(testing::Ge(16u), testing::Le(17u)));
  }
  EXPECT_EQ(queries, 32u * 2048);
  for (const char* line :
       {"attention B=512 H=64 K=8 S=1 T=100 D=8", "linear N=64 M=8 F=100000",
        "rope pairing=half B=64 H=64 S=5000 D=2", "rope_shift pairing=half B=70 K=70 T=70 D=2",
        "softmax N=5000000 M=2", "alibi H=200 S=200 T=200"}) {
    const SamplePlan large = PlanOf(Case::Parse(line), 1);
    EXPECT_GT(large.slices.size(), kMostPlanned / 4) << line;
    EXPECT_LE(large.slices.size(), kMostPlanned) << line;
    EXPECT_LE(large.always, large.slices.size() / 4) << line;
    EXPECT_GE(large.always, 2u) << line;
  }
}

TEST(SamplePlan, DependsOnTheSeedAlone) {
  const auto order = [](uint64_t seed) {
    std::vector<size_t> rows;
    for (const Slice& slice : PlanOf(Case::Parse("softmax N=50 M=2"), seed).slices)
      rows.push_back(slice.ranges.at("N").first);
    return rows;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
  EXPECT_EQ(order(1)[0], 0u);
  EXPECT_EQ(order(1)[1], 49u);
}

TEST(SamplePlan, DoesNotCutWhatDependsOnEverything) {
  const SamplePlan plan = PlanOf(Case::Parse("rope_frequencies R=8"), 1);
  EXPECT_EQ(plan.slices.size(), 1u);
  EXPECT_EQ(plan.always, 1u);
  EXPECT_EQ(PlanOf(Case::Parse("softmax N=0 M=2"), 1).slices.size(), 1u);
}

}  // namespace
}  // namespace sextant

#include "oracle/audit/hitting_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "reference/base/splitmix64.h"

namespace sextant::oracle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Sets = std::vector<std::vector<size_t>>;

bool HitsAll(const std::vector<size_t>& elements, const Sets& sets) {
  return std::ranges::all_of(sets, [&](const auto& set) {
    return std::ranges::any_of(set, [&](size_t e) { return std::ranges::count(elements, e) > 0; });
  });
}

// The size of a smallest hitting set; tries all 2^n choices.
size_t SmallestByTrial(const Sets& sets, size_t n) {
  size_t smallest = n;
  for (size_t choice = 0; choice < (size_t{1} << n); ++choice) {
    std::vector<size_t> elements;
    for (size_t e = 0; e < n; ++e) {
      if (choice >> e & 1) elements.push_back(e);
    }
    if (HitsAll(elements, sets)) smallest = std::min(smallest, elements.size());
  }
  return smallest;
}

// `count` pseudo-random sets of `width` elements below n.
Sets Drawn(size_t count, size_t width, size_t n) {
  Sets sets(count);
  SplitMix64 random(1);
  for (auto& set : sets) {
    while (set.size() < width) {
      const size_t element = random.Below(n);
      if (std::ranges::count(set, element) == 0) set.push_back(element);
    }
    std::ranges::sort(set);
  }
  return sets;
}

TEST(FindHittingSet, IsEmptyForNoSets) {
  EXPECT_THAT(FindHittingSet({}).elements, IsEmpty());
  EXPECT_TRUE(FindHittingSet({}).IsSmallest());
}

TEST(FindHittingSet, TakesTheElementsOfSetsOfOne) {
  EXPECT_THAT(FindHittingSet({{4}, {1, 4}, {2}, {1, 2}}).elements, ElementsAre(2, 4));
}

// Element 0 hits four sets, the most. A greedy choice of 0 leads to three elements.
TEST(FindHittingSet, IsNotGreedy) {
  const Sets sets = {{0, 1}, {0, 1}, {1}, {0, 2}, {0, 2}, {2}};
  EXPECT_THAT(FindHittingSet(sets).elements, ElementsAre(1, 2));
}

// The lines of the Fano plane as sets of points. Every two lines share a point, so the three points
// of any line hit all lines.
TEST(FindHittingSet, SolvesTheFanoPlane) {
  const Sets lines = {{0, 1, 2}, {0, 3, 4}, {0, 5, 6}, {1, 3, 5}, {1, 4, 6}, {2, 3, 6}, {2, 4, 5}};
  const HittingSet found = FindHittingSet(lines);
  EXPECT_EQ(found.elements.size(), 3u);
  EXPECT_EQ(found.at_least, 3u);
  EXPECT_TRUE(HitsAll(found.elements, lines));
}

RC_GTEST_PROP(FindHittingSet, AgreesWithExhaustiveSearch, ()) {
  constexpr size_t kElements = 9;
  const auto masks =
      *rc::gen::container<std::vector<unsigned>>(rc::gen::inRange(1u, 1u << kElements));
  Sets sets;
  for (const unsigned mask : masks) {
    sets.emplace_back();
    for (size_t e = 0; e < kElements; ++e) {
      if (mask >> e & 1 && sets.back().size() < 4) sets.back().push_back(e);
    }
  }
  const HittingSet found = FindHittingSet(sets);
  RC_ASSERT(HitsAll(found.elements, sets));
  RC_ASSERT(found.IsSmallest());
  RC_ASSERT(found.elements.size() == SmallestByTrial(sets, kElements));
  RC_ASSERT(std::ranges::is_sorted(found.elements));
}

// Harder than the sets of any case file: no set contains another.
TEST(FindHittingSet, IsExactForFiftySetsOfThirtyElements) {
  const Sets sets = Drawn(50, 6, 30);
  const HittingSet found = FindHittingSet(sets);
  EXPECT_TRUE(found.IsSmallest());
  EXPECT_TRUE(HitsAll(found.elements, sets));
}

TEST(FindHittingSet, ReportsALowerBoundAtTheLimitOfSteps) {
  const Sets sets = Drawn(50, 6, 30);
  const size_t smallest = FindHittingSet(sets).elements.size();
  const HittingSet found = FindHittingSet(sets, 1);
  EXPECT_TRUE(HitsAll(found.elements, sets));
  EXPECT_FALSE(found.IsSmallest());
  EXPECT_LE(found.at_least, smallest);
  EXPECT_GE(found.elements.size(), smallest);
}

}  // namespace
}  // namespace sextant::oracle

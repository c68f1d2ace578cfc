#include "reference/prove/slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "reference/case/draw.h"
#include "reference/case/operations.h"
#include "reference/case/random_test.h"
#include "reference/prove/case_slices.h"

namespace sextant {
namespace {

using testing::ElementsAre;

// Cuts an output into slices, and gives every element the number of its slice.
std::vector<double> Marks(const Case& c, size_t elements) {
  const TensorSpec& y = c.info().signature.outputs[0];
  Tensor<double> whole(c.ShapeOf(y));
  double mark = 0;
  for (const Slice& slice : CutCase(c, elements)) {
    Tensor<double> part(ShapeIn(whole.shape, y, slice));
    std::ranges::fill(part.data, ++mark);
    for (const size_t i : IndicesIn(whole.shape, y, slice))
      EXPECT_EQ(whole.data[i], 0) << "in two slices";
    InsertSlice(part, y, slice, whole);
  }
  return whole.data;
}

TEST(Slices, CoverEveryElementOnce) {
  Random random(1);
  for (const auto& operation : AllOperations()) {
    for (int i = 0; i < 10; ++i) {
      const Case c = RandomCase(operation->info(), random, "");
      for (const size_t elements : {1, 7, 50, 100000}) {
        for (const double mark : Marks(c, elements)) EXPECT_GT(mark, 0) << c.ToString();
      }
    }
  }
}

TEST(Slices, RunsAreTheirIndices) {
  const Case c = Case::Parse("rope pairing=half B=2 H=3 S=4 D=2");
  const TensorSpec& y = c.info().signature.outputs[0];
  for (const Slice& slice : CutCase(c, 5)) {
    std::vector<size_t> indices;
    for (const auto& [first, count] : RunsIn(c.ShapeOf(y), y, slice)) {
      for (size_t i = 0; i < count; ++i) indices.push_back(first + i);
    }
    EXPECT_EQ(indices, IndicesIn(c.ShapeOf(y), y, slice));
  }
}

TEST(Slices, TakeAndPutAreInverse) {
  const Case c = Case::Parse("rope pairing=half B=2 H=3 S=4 D=2");
  for (const TensorSpec& input : c.signature().inputs) {
    Tensor<double> whole(c.ShapeOf(input));
    std::iota(whole.data.begin(), whole.data.end(), 1);
    Tensor<double> again(whole.shape);
    for (const Slice& slice : CutCase(c, 5))
      InsertSlice(ExtractSlice(whole, input, slice), input, slice, again);
    EXPECT_EQ(again.data, whole.data);
  }
}

TEST(Slices, HaveTheRequestedSize) {
  const Case c = Case::Parse("rope pairing=half B=2 H=3 S=100 D=8");
  const TensorSpec& y = c.info().signature.outputs[0];
  const auto slices = CutCase(c, 480);
  EXPECT_EQ(slices.size(), 10u);
  for (const Slice& slice : slices) EXPECT_LE(CountOf(ShapeIn(c.ShapeOf(y), y, slice)), 480u);
  EXPECT_EQ(CutCase(c, 4800).size(), 1u);
}

// Rows cannot be cut: mean and sum need the whole row.
TEST(Slices, CutOnlyIndependentAxes) {
  const Case c = Case::Parse("rms_norm N=2 M=100");
  const TensorSpec &x = c.signature().inputs[0], &weight = c.signature().inputs[1];
  const auto slices = CutCase(c, 10);
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_THAT(ShapeIn({2, 100}, x, slices[1]), ElementsAre(1, 100));
  EXPECT_THAT(ShapeIn({100}, weight, slices[1]), ElementsAre(100));  // shared by all slices
  EXPECT_EQ(IndicesIn({2, 100}, x, slices[1]).front(), 100u);
}

TEST(CaseCut, FindsTheSliceOfAnElement) {
  for (const char* line : {"rope pairing=half B=2 H=3 S=7 D=8", "linear N=3 M=40 F=11",
                           "rms_norm N=5 M=9", "attention B=2 H=6 K=2 S=3 T=5 D=3 mask=causal"}) {
    const Case c = Case::Parse(line);
    const TensorSpec& y = c.info().signature.outputs[0];
    for (const size_t elements : {1, 6, 50, 100000}) {
      const CaseCut cut(c, elements);
      const std::vector<Slice> all = CutCase(c, elements);
      ASSERT_EQ(cut.size(), all.size());
      for (const Slice& slice : all) {
        for (const size_t flat : IndicesIn(c.ShapeOf(y), y, slice))
          EXPECT_EQ(cut.With(y, flat).ranges, slice.ranges) << line;
      }
    }
  }
}

TEST(Slices, AnEmptyCaseHasOneEmptySlice) {
  const Case c = Case::Parse("rms_norm N=0 M=4");
  EXPECT_EQ(CutCase(c, 10).size(), 1u);
  EXPECT_TRUE(Marks(c, 10).empty());
}

// All slices together are the whole; each has just the key heads that its query heads read.
TEST(Slices, OfQueryHeadsHaveTheirKeyHeads) {
  const Case c = Case::Parse("attention B=1 H=12 K=4 S=2 T=5 D=3 mask=causal");
  const TensorSpec& k = c.signature().inputs[1];
  const auto heads_of = [&](const Slice& slice) { return ShapeIn(c.ShapeOf(k), k, slice)[1]; };
  const auto single = CutCase(c, 6);
  ASSERT_EQ(single.size(), 12u);
  for (const Slice& slice : single) {
    EXPECT_EQ(heads_of(slice), 1u);
    EXPECT_EQ(slice.ranges.at("K").first, slice.ranges.at("H").first / 3);
  }
  const auto halves = Halve(c, {});
  EXPECT_EQ(heads_of(halves->first), 2u);
  const auto three = Halve(c, halves->second)->first;  // heads 6 to 8, or 7 to 8 of key heads 2
  EXPECT_EQ(heads_of(three), 1u);
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  const Tensors whole = EvaluateByRecipe({c, ReadersOf(inputs), recipe}, Slice());
  for (const size_t elements : {6, 20, 30}) {
    for (const Slice& slice : CutCase(c, elements)) {
      const Tensors part = EvaluateByRecipe({c, ReadersOf(inputs), recipe}, slice);
      const TensorSpec& y = c.info().signature.outputs[0];
      EXPECT_EQ(part[0].values.data, ExtractSlice(whole[0].values, y, slice).data);
    }
  }
}

// A query attends to the keys before it, so its formula needs the index of the query. Formulas
// without a mask do not.
TEST(Slices, GiveTheirFirstIndex) {
  EXPECT_EQ(SliceBegin("S"), 0u);
  const Slice slice{{{"S", {5, 2}}}};
  {
    const ScopedSlice in(&slice);
    EXPECT_EQ(SliceBegin("S"), 5u);
    EXPECT_EQ(SliceBegin("B"), 0u);
  }
  EXPECT_EQ(SliceBegin("S"), 0u);
  const auto attention = MakeOperationNamed("attention"),
             relative = MakeOperationNamed("relative_attention");
  EXPECT_FALSE(IsIndependent(*attention, 'S'));
  EXPECT_FALSE(IsIndependent(*attention, 'T'));
  EXPECT_TRUE(IsIndependent(*relative, 'S'));
  EXPECT_FALSE(IsIndependent(*relative, 'T'));
}

TEST(Slice, HasAText) {
  const Case c = Case::Parse("attention H=4 K=2 S=8 T=8 D=2");
  for (const Slice& slice : CutCase(c, 8)) {
    const std::string text = TextOf(slice);
    EXPECT_EQ(ParseSlice(c, text).ranges, slice.ranges) << text;
  }
  EXPECT_EQ(TextOf(CutCase(c, 16).front()), "H=0..0 K=0..0");
  EXPECT_TRUE(ParseSlice(c, "").ranges.empty());
}

TEST(Slice, RefusesTextsThatAreNoSliceOfTheCase) {
  const Case c = Case::Parse("rms_norm N=4 M=8");
  for (const char* text : {"N=0..4", "N=2..1", "N=-1..2", "M=0..3", "X=0..0", "N=1", "0..1", "N",
                           "N=..", "N=0..9999999999999999999"}) {
    EXPECT_THROW(ParseSlice(c, text), Error) << text;
  }
}

TEST(Slices, HaveAnIntersection) {
  const Case c = Case::Parse("attention H=4 K=2 S=8 T=8 D=4 mask=causal");
  const auto common = [&](const char* a, const char* b) {
    const auto both = Intersection(ParseSlice(c, a), ParseSlice(c, b));
    return both ? TextOf(*both) : "nothing";
  };
  EXPECT_EQ(common("S=2..5", "S=4..7"), "S=4..5");
  EXPECT_EQ(common("S=2..5", ""), "S=2..5");
  EXPECT_EQ(common("S=0..3", "S=4..7"), "nothing");
  EXPECT_EQ(common("H=0..1 K=0..0", "S=4..7"), "H=0..1 K=0..0 S=4..7");
  EXPECT_EQ(common("H=0..1 K=0..0", "H=1..2 K=0..1"), "H=1..1 K=0..0");
}

// Together the slices of a part are the part.
TEST(CaseCut, CutsParts) {
  const Case c = Case::Parse("rope pairing=half B=2 H=3 S=7 D=4");
  const TensorSpec& y = c.info().signature.outputs[0];
  const Shape shape = c.ShapeOf(y);
  Tensor<double> seen(shape);
  size_t count = 0;
  for (const Slice& part : CutCase(c, 40)) {
    const CaseCut slices(c, 8, part);
    count += slices.size();
    for (size_t s = 0; s < slices.size(); ++s) {
      for (const size_t i : IndicesIn(shape, y, slices[s])) ++seen.data[i];
      // The same elements, counted from the beginning of the part.
      Tensor<double> of_part(ShapeIn(shape, y, part));
      EXPECT_EQ(ShapeIn(of_part.shape, y, Within(slices[s], part)), ShapeIn(shape, y, slices[s]));
    }
  }
  EXPECT_EQ(seen.data, std::vector<double>(seen.data.size(), 1));
  EXPECT_GT(count, 2 * CutCase(c, 40).size());
}

}  // namespace
}  // namespace sextant

#include "reference/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;

// x [2,4] and w [4]; the result is set by each test.
struct Draft : Plan {
  Draft() : Plan({{'N', 2}, {'M', 4}}) {}
  const Stage x = Input("x", "NM"), w = Input("w", "M");
  const std::vector<Tensor<double>> inputs = {Tensor<double>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}),
                                              Tensor<double>({4}, {1, 10, 100, 1000})};

  Stage Reduced(Function function) { return Along('M', "reduced", Step::kSum, function, x); }
  std::vector<double> Numbers(Stage stage) const { return EvaluateAll(inputs)[stage].data; }
};

TEST(Plan, StagesAreBroadcast) {
  Draft p;
  const Stage product = p.Of("product", Step::kWeigh, Function::kMultiply, {p.x, p.w});
  EXPECT_EQ(p.AxesOf(product), "NM");
  EXPECT_THAT(p.Numbers(product), ElementsAre(1, 20, 300, 4000, 5, 60, 700, 8000));
  const Stage sums = p.Reduced(Function::kSum);
  EXPECT_EQ(p.AxesOf(sums), "N");
  const Stage less = p.Of("less", Step::kCenter, Function::kSubtract, {p.x, sums});
  EXPECT_THAT(p.Numbers(less), ElementsAre(-9, -8, -7, -6, -21, -20, -19, -18));
}

TEST(Plan, ReductionsHaveTheirSpans) {
  Draft p;
  const Stage sum = p.Reduced(Function::kSum), count = p.Reduced(Function::kCount);
  const Stage largest = p.Reduced(Function::kLargest);
  EXPECT_THAT(p.Numbers(sum), ElementsAre(10, 26));
  EXPECT_THAT(p.Numbers(count), ElementsAre(4, 4));
  EXPECT_THAT(p.Numbers(largest), ElementsAre(4, 8));
  for (const Stage stage : {sum, count, largest}) p.Edit(stage).spans = {{0, 2}, {1, 3}};
  EXPECT_THAT(p.Numbers(sum), ElementsAre(1 + 2 + 2 + 3, 5 + 6 + 6 + 7)) << "column 1 twice";
  EXPECT_THAT(p.Numbers(count), ElementsAre(4, 4));
  EXPECT_THAT(p.Numbers(largest), ElementsAre(3, 7));
}

TEST(Plan, SpansOfColumnsKeepTheAxis) {
  Draft p;
  const Stage sum = p.Reduced(Function::kSum);
  p.Edit(sum).of = [](size_t j) { return Spans{{j % 2, 4, 2}}; };
  EXPECT_EQ(p.AxesOf(sum), "NM");
  EXPECT_THAT(p.Numbers(sum), ElementsAre(4, 6, 4, 6, 12, 14, 12, 14));
}

TEST(Plan, RowsAreReducedAndReordered) {
  Draft p;
  const Stage down = p.Along('N', "down", Step::kSum, Function::kSum, p.x);
  EXPECT_EQ(p.AxesOf(down), "M");
  EXPECT_THAT(p.Numbers(down), ElementsAre(6, 8, 10, 12));
  const Stage first = p.Reordered(p.x, 'N', [](size_t) { return size_t{0}; });
  EXPECT_THAT(p.Numbers(first), ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
  p.Edit(first).chosen = [](size_t n) { return n == 0; };
  p.Edit(first).number = 9;
  EXPECT_THAT(p.Numbers(first), ElementsAre(1, 2, 3, 4, 9, 9, 9, 9));
}

TEST(Plan, StagesAreStacked) {
  Draft p;
  const Stage rows = p.Reduced(Function::kLargest);  // 4, 8
  const Stage parts = p.Stacked('P', "parts", {p.x, rows});
  EXPECT_EQ(p.AxesOf(parts), "NMP");
  EXPECT_THAT(p.Numbers(parts), ElementsAre(1, 4, 2, 4, 3, 4, 4, 4, 5, 8, 6, 8, 7, 8, 8, 8));
  EXPECT_THAT(p.Numbers(p.Along('P', "sum", Step::kSum, Function::kSum, parts)),
              ElementsAre(5, 6, 7, 8, 13, 14, 15, 16));
}

TEST(Plan, OneResultIsTakenFromAnotherPlan) {
  Draft p;
  const Stage sum = p.Reduced(Function::kSum);
  p.AddResult(p.Of("difference", Step::kCenter, Function::kSubtract, {p.x, sum}));
  p.AddResult(sum);
  const Draft::Values before = p.EvaluateAll(p.inputs);
  const Plan right = p;
  p.Edit(sum).spans = {{0, 1}};
  p.TakeResult(1, right);
  const auto after = p.EvaluateAfter(before);
  EXPECT_THAT(after[0].data, ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_THAT(after[1].data, ElementsAre(10, 26)) << "not edited";
}

TEST(Plan, ConstantsAreReducedAsOften) {
  Draft p;
  const Stage rows = p.Reduced(Function::kLargest);  // 4, 8
  const Stage sum = p.Along('M', "sum", Step::kSum, Function::kSum, rows);
  const Stage count = p.Along('M', "count", Step::kSum, Function::kCount, p.Number("two", 2));
  EXPECT_THAT(p.Numbers(sum), ElementsAre(16, 32));
  EXPECT_THAT(p.Numbers(count), ElementsAre(4));
  p.Edit(sum).spans = {{0, 3}};
  EXPECT_THAT(p.Numbers(sum), ElementsAre(12, 24));
}

TEST(Plan, ResultsKeepTheirAxes) {
  Draft p;
  p.AddResult(p.Of("y", Step::kWeigh, Function::kMultiply, {p.x, p.w}));
  p.Replace(p.results()[0], p.w);
  EXPECT_THAT(p.EvaluateAfter(p.EvaluateAll(p.inputs))[0].data,
              ElementsAre(1, 10, 100, 1000, 1, 10, 100, 1000));
}

TEST(Plan, MaskedElementsStayMasked) {
  Plan p({{'M', 2}});
  const Stage x = p.Input("x", "M");
  const Stage largest = p.Along('M', "largest", Step::kSoftmax, Function::kLargest, x);
  const Stage exponent = p.Of("exponent", Step::kSoftmax, Function::kSubtract, {x, largest});
  const Stage term = p.Of("term", Step::kSoftmax, Function::kExp, {exponent});
  EXPECT_THAT(p.EvaluateAll({Tensor<double>({2}, {-kInfinity, 3})})[term].data, ElementsAre(0, 1));
}

TEST(Plan, ReplacesWhatOthersRead) {
  Draft p;
  const Stage square = p.Of("square", Step::kSquare, Function::kMultiply, {p.x, p.x});
  const Stage sum = p.Along('M', "sum", Step::kSum, Function::kSum, square);
  p.AddResult(sum);
  const Stage doubled = p.Of("doubled", Step::kSquare, Function::kAdd, {square, square});
  p.Replace(square, doubled);  // but in what `doubled` is computed from
  EXPECT_THAT(p.Numbers(sum), ElementsAre(60, 348));
  p.Replace(sum, p.x);
  EXPECT_THAT(p.results(), ElementsAre(p.x));
}

TEST(Plan, CopiesWhatLeadsFromAStage) {
  Draft p;
  const Stage square = p.Of("square", Step::kSquare, Function::kMultiply, {p.x, p.x});
  const Stage sum = p.Along('M', "sum", Step::kSum, Function::kSum, square);
  const Stage y = p.Of("y", Step::kScale, Function::kDivide, {p.x, sum});
  const Stage two = p.Number("two", 2);
  EXPECT_THAT(p.Numbers(p.CopyWith(y, p.x, two)), ElementsAre(2. / 30, 2. / 174));
  EXPECT_THAT(p.Numbers(p.CopyWith(y, p.x, p.w, true)),
              ElementsAre(1 / 1010101., 10 / 1010101., 100 / 1010101., 1000 / 1010101.));
}

// Stages that did not change are not computed again.
TEST(Plan, EvaluatesOnlyWhatWasEdited) {
  Draft p;
  const Stage square = p.Of("square", Step::kSquare, Function::kMultiply, {p.x, p.x});
  const Stage sum = p.Along('M', "sum", Step::kSum, Function::kSum, square);
  p.AddResult(p.Of("y", Step::kScale, Function::kDivide, {p.x, sum}));
  Plan::Values before = p.EvaluateAll(p.inputs);
  before[square].data.assign(8, 0);  // is not read
  Plan edited = p;
  edited.Edit(edited.results()[0]).function = Function::kMultiply;
  EXPECT_THAT(edited.EvaluateAfter(before)[0].data,
              ElementsAre(30, 60, 90, 120, 870, 1044, 1218, 1392));
  edited.Edit(sum).function = Function::kCount;
  EXPECT_THAT(edited.EvaluateAfter(before)[0].data, ElementsAre(4, 8, 12, 16, 20, 24, 28, 32));
}

}  // namespace
}  // namespace sextant

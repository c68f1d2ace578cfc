#include "oracle/layer/measured/constant.h"

#include <gtest/gtest.h>

#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {
namespace {

std::string TextIn(double low, double high, const std::vector<Constant>& named = {}) {
  return TextOf(ConstantsIn({low, high}, named));
}

TEST(Constant, KnownOnesInTheRangeComeFirst) {
  const std::vector<Constant> named{{0.7071, "1/sqrt(2)"}, {0.7, "0.7"}, {0.5, "1/2"}};
  EXPECT_EQ(TextIn(0.69, 0.71, named), "1/sqrt(2) or 0.7");
  EXPECT_EQ(ConstantsIn({0.4, 0.6}, named)[0].bits, std::log2(3));
}

TEST(Constant, ANumberWithFewDigitsIsKnownIfTheRangeIsNarrow) {
  const Constant narrow = ConstantsIn({1.70195, 1.70205}, {})[0];
  EXPECT_EQ(narrow.text, "1.702");
  EXPECT_TRUE(narrow.is_known);
  const Constant wide = ConstantsIn({1.6, 1.8}, {})[0];
  EXPECT_EQ(wide.text, "1.7 (+- 0.1)");
  EXPECT_FALSE(wide.is_known);
  EXPECT_EQ(TextIn(-1, 1), "0");
  EXPECT_EQ(TextIn(59.9999, 60.0001), "60");
}

TEST(Constant, BitsOfEvidenceLeaveOutWhatWasFitted) {
  EXPECT_DOUBLE_EQ(BitsOfEvidence({2, 0.5, 8, 4}, 1), 1 + 2);
  EXPECT_DOUBLE_EQ(BitsOfEvidence({2, 8}, 2), 0);
  EXPECT_DOUBLE_EQ(BitsOfUniform({0.5, 0.9}), 0);
  EXPECT_GT(BitsOfUniform({1e-4, 1e-3, 1e-4}), 15);
  EXPECT_LT(BitsOfUniform({1e-4, 1e-3, 1e-4}), std::log2(1e11)) << "less than their product";
}

TEST(Constant, ManyElementsMakeAFitEvident) {
  Deviations one;
  one.Add("a", "the first");
  EXPECT_FALSE(IsEvident(std::vector<double>(6, 4), one));  // 12 of 14 bits
  EXPECT_TRUE(IsEvident(std::vector<double>(7, 4), one));
  EXPECT_FALSE(IsEvident(std::vector<double>(7, 4), one, 1));
  one.Count({0.87, "0.87", false});
  EXPECT_FALSE(IsEvident(std::vector<double>(7, 4), one)) << "one of them was fitted";
}

TEST(Constant, DeviationsAreJoined) {
  Deviations all, other;
  all.Add("a", "the first");
  other.Add("b", "the second");
  other.Count({1, "1", true, 3});
  all.Add(other);
  all.Add(Deviations());
  EXPECT_EQ(all.name, "a+b");
  EXPECT_EQ(all.sentence, "the first; the second");
  EXPECT_EQ(all.count, 2);
  EXPECT_EQ(all.bits, 3);
}

struct NumberedFit {
  Deviations deviations;
  int id;
};

std::vector<NumberedFit> FitsWith(const std::vector<size_t>& counts) {
  std::vector<NumberedFit> fits;
  for (const size_t count : counts) {
    fits.push_back({{}, static_cast<int>(fits.size())});
    for (size_t i = 0; i < count; ++i) fits.back().deviations.Add("a", "why");
  }
  return fits;
}

TEST(Constant, TheSimplestFitsAreKept) {
  std::vector<NumberedFit> fits = FitsWith({2, 1, 3, 1});
  fits[1].deviations.adjusted = 1;
  KeepSimplest(fits);
  ASSERT_EQ(fits.size(), 1);
  EXPECT_EQ(fits[0].id, 3);
}

TEST(Constant, AWiderBarIsTakenForFewerDeviationsOnly) {
  const auto simplest = [](size_t likely, size_t permitted, size_t twice) {
    return SimplestFits([=](ErrorBar bar) {
      return FitsWith({bar == ErrorBar::kLikely      ? likely
                       : bar == ErrorBar::kPermitted ? permitted
                                                     : twice});
    });
  };
  EXPECT_EQ(simplest(2, 2, 1)[0].deviations.count, 1);
  EXPECT_EQ(simplest(2, 3, 2)[0].deviations.count, 2);
  EXPECT_TRUE(simplest(0, 1, 1).empty()) << "the right computation fits";
}

TEST(Constant, SamplesHaveTheErrorsOfTheirBar) {
  const DrawnCase drawn("rms_norm N=8 M=16 dtype=f32 seed=1");
  Tensors answer = EvaluateByRecipe({drawn.c, drawn.inputs, drawn.recipe});
  const Judge judge(drawn.c, drawn.inputs, drawn.recipe);
  std::vector<double>& y = answer[0].values.data;
  y[37] += 1;
  y[38] = kNaN;
  const Observation seen{drawn.c,        drawn.inputs,      drawn.recipe,
                         judge.golden(), judge.permitted(), answer};
  const Samples samples(seen, 0, ErrorBar::kPermitted);
  EXPECT_TRUE(samples.IsAnswered());
  EXPECT_TRUE(samples.Has(37));
  EXPECT_FALSE(samples.Has(38));
  const double error = samples.At(37).error;
  EXPECT_EQ(error, judge.permitted()[0].error.data[37]);
  EXPECT_TRUE(samples.At(37).Fails());
  EXPECT_FALSE(samples.At(36).Fails());
  EXPECT_EQ(samples.With(ErrorBar::kTwicePermitted).At(37).error, 2 * error);
  EXPECT_LE(samples.With(ErrorBar::kLikely).At(37).error, error);
  bool has_worst = false;
  for (const Sample& sample : samples.Chosen(8)) has_worst = has_worst || sample.at == 37;
  EXPECT_TRUE(has_worst);
  const std::vector<size_t> rows = samples.ChosenRows(4, 16);
  EXPECT_TRUE(std::ranges::count(rows, 2) == 1) << "the row of the worst element";
  EXPECT_LE(rows.size(), 4);
}

}  // namespace
}  // namespace sextant::oracle

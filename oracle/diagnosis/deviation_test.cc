// Numbers and choices that are fitted to an answer, with the slices to which they are fitted.
#include "oracle/diagnosis/deviation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracle/defect/drawn_case_test.h"
#include "oracle/diagnosis/choices.h"
#include "oracle/diagnosis/fitted_number.h"
#include "oracle/diagnosis/prediction.h"
#include "oracle/diagnosis/witnesses.h"
#include "oracle/judge/judge.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

constexpr char kNorm[] = "rms_norm N=64 M=16 eps=0.5 dtype=f32 seed=1";

// An answer by other attributes than those of the case.
struct AnsweredWith : DrawnCase {
  explicit AnsweredWith(const std::vector<std::string>& words)
      : DrawnCase(kNorm),
        answer(EvaluateByRecipe({c.With(words), inputs, recipe})),
        judge(c, inputs, recipe) {}
  Observation seen() const {
    return {c, inputs, recipe, judge.golden(), judge.permitted(), answer};
  }
  Hypothesis right() const { return {c.operation().Clone(), SharedInputs::Of(inputs), recipe}; }

  Tensors answer;
  Judge judge;
};

Deviation EpsChanged() {
  return {.name = "eps_changed",
          .factor = "eps",
          .values = {{1e-5}, {0.125, "0.125 = 1/8"}},
          .right = 0.5,
          .changed =
              [](const Hypothesis& base, double eps) {
                return WithAttributes(base, {{"eps", PrintValue(eps)}});
              },
          .sentence = [](const std::string& number) { return "eps is " + number; }};
}

Deviation OffsetOfWeight() {
  return OneOf("offset", "weight",
               {{"nothing changes", [](const Hypothesis&) { return std::optional<Hypothesis>(); }},
                {"1 is added to the weight", [](const Hypothesis& base) {
                   return WithAttributes(base, {{"unit_offset", "true"}});
                 }}});
}

std::vector<Explanation> Fitted(const std::vector<std::string>& words) {
  const AnsweredWith asked(words);
  return FittedTo(asked.seen(), asked.right(), {EpsChanged(), OffsetOfWeight()});
}

TEST(Deviation, ANumberIsFittedAndNamed) {
  for (const auto& [words, sentence] :
       {std::pair("eps=0.125", "eps is 0.125 = 1/8"), std::pair("eps=0.3", "eps is 0.3")}) {
    const auto found = Fitted({words});
    ASSERT_EQ(found.size(), 1) << words;
    EXPECT_EQ(found[0].name, "eps_changed");
    EXPECT_EQ(found[0].sentence, sentence);
  }
  const auto measured = Fitted({"eps=0.314159265"});
  ASSERT_EQ(measured.size(), 1);
  EXPECT_THAT(measured[0].sentence, StartsWith("eps is 0.31415"));
}

TEST(Deviation, TheModelPredictsTheAnswer) {
  const AnsweredWith asked({"eps=0.3"});
  const auto found = FittedTo(asked.seen(), asked.right(), {EpsChanged()});
  ASSERT_EQ(found.size(), 1);
  const AnsweredSlice whole = AnsweredSliceOf(asked.seen(), {});
  EXPECT_TRUE(Compare(asked.seen(), whole, whole.exact, found[0].model).explains());
  EXPECT_FALSE(Compare(asked.seen(), whole, whole.exact, asked.right()).explains());
}

TEST(Deviation, ARoundingOfTheRightNumberIsNone) {
  EXPECT_FALSE(Fitted({"eps=0.51"}).empty());
  EXPECT_THAT(Fitted({"eps=0.501953125"}), IsEmpty()) << "0.5 and an ulp of bf16";
}

TEST(Deviation, NothingIsSaidOfARightAnswer) { EXPECT_THAT(Fitted({"eps=0.5"}), IsEmpty()); }

TEST(Deviation, AChoiceIsSaidByItsSentence) {
  const auto found = Fitted({"unit_offset=true"});
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].name, "offset");
  EXPECT_EQ(found[0].sentence, "1 is added to the weight");
}

TEST(Deviation, TwoOfDifferentFactorsAreFoundTogether) {
  const auto found = Fitted({"eps=0.3", "unit_offset=true"});
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].name, "offset+eps_changed");
  EXPECT_EQ(found[0].sentence, "1 is added to the weight; and eps is 0.3");
}

TEST(Deviation, RareOnesAreTriedAloneOnly) {
  const AnsweredWith one({"unit_offset=true"}), two({"eps=0.3", "unit_offset=true"});
  EXPECT_EQ(FittedTo(one.seen(), one.right(), {EpsChanged()}, {OffsetOfWeight()}).size(), 1);
  EXPECT_THAT(FittedTo(two.seen(), two.right(), {EpsChanged()}, {OffsetOfWeight()}), IsEmpty());
}

TEST(Deviation, PairsTakeFromTheEvaluationsThatAreLeft) {
  const AnsweredWith asked({"eps=0.3", "unit_offset=true"});
  size_t none = 0, enough = kMostEvaluations;
  Observation seen = asked.seen();
  seen.how.evaluations_left = &none;
  EXPECT_THAT(FittedTo(seen, asked.right(), {EpsChanged(), OffsetOfWeight()}), IsEmpty());
  seen.how.evaluations_left = &enough;
  EXPECT_EQ(FittedTo(seen, asked.right(), {EpsChanged(), OffsetOfWeight()}).size(), 1);
  EXPECT_LT(enough, kMostEvaluations);
}

TEST(FittedNumber, IsWithinItsErrorBar) {
  const AnsweredWith asked({"eps=0.314159265"});
  Evaluations evaluations{kMostEvaluations};
  const auto measured = MeasureNumber(asked.seen(), asked.right(), EpsChanged(),
                                      WitnessesOf(asked.seen()).fit, evaluations);
  ASSERT_TRUE(measured);
  EXPECT_LE(std::abs(measured->value - 0.314159265), measured->bar);
  EXPECT_LT(measured->bar, 1e-5) << "a few permitted errors of f32";
  EXPECT_GT(evaluations.count, 0);
}

TEST(FittedNumber, NoneIsFoundIfTheAnswerDoesNotDependOnIt) {
  const AnsweredWith asked({"unit_offset=true"});
  Evaluations evaluations{kMostEvaluations};
  EXPECT_FALSE(MeasureNumber(asked.seen(), asked.right(), EpsChanged(),
                             WitnessesOf(asked.seen()).fit, evaluations));
}

TEST(Witnesses, TheWorstFailingSliceComesFirstAndBothHalvesFail) {
  const AnsweredWith asked({"eps=0.3"});
  const Witnesses chosen = WitnessesOf(asked.seen());
  ASSERT_FALSE(chosen.fit.empty());
  size_t failing = 0;
  for (const Witness& witness : chosen.fit) {
    EXPECT_GT(witness.failing, 0);
    EXPECT_LE(witness.worst, chosen.fit[0].worst);
    failing += witness.failing;
  }
  const auto fails = [](const Witness& witness) { return witness.failing > 0; };
  EXPECT_TRUE(std::ranges::any_of(chosen.test, fails));
  for (const Witness& witness : chosen.test) failing += witness.failing;
  EXPECT_EQ(failing, chosen.failing_elements);
}

TEST(Witnesses, SlicesThatConformAreAmongTheTested) {
  AnsweredWith asked({"eps=0.5"});
  asked.answer[0].values(3, 5) += 1;
  const Witnesses chosen = WitnessesOf(asked.seen());
  ASSERT_EQ(chosen.fit.size(), 1);
  EXPECT_EQ(chosen.failing_elements, 1);
  ASSERT_FALSE(chosen.test.empty());
  EXPECT_EQ(chosen.test[0].failing, 0);
}

TEST(Witnesses, ResidualsAreInPermittedErrors) {
  AnsweredWith asked({"eps=0.5"});
  const AnsweredWith wrong({"eps=0.3"});
  asked.answer[0].values(3, 5) = kNaN;
  const Witness witness = WitnessesOf(asked.seen()).fit.at(0);
  size_t infinite = 0;
  for (const double residual : ResidualsOf(asked.seen(), asked.right(), witness))
    infinite += std::isinf(residual);
  EXPECT_EQ(infinite, 1);
  const auto fit = WitnessesOf(wrong.seen()).fit;
  const double distance = DistanceOf(wrong.seen(), wrong.right(), fit[0]);
  EXPECT_GT(distance, static_cast<double>(fit[0].failing));
  EXPECT_EQ(DistanceOf(wrong.seen(), wrong.right(), fit, 0), distance) << "ends at the limit";
  EXPECT_GT(DistanceOf(wrong.seen(), wrong.right(), fit, kInfinity), distance);
}

}  // namespace
}  // namespace sextant::oracle

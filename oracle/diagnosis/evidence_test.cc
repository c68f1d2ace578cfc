#include "oracle/diagnosis/evidence.h"

#include <gtest/gtest.h>

#include <memory>

#include "oracle/defect/drawn_case_test.h"
#include "oracle/defect/input_defects.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {
namespace {

struct Asked : DrawnCase {
  // The answer is that of the case with other words.
  Asked(const std::string& line, const std::string& words)
      : DrawnCase(line),
        answer(EvaluateByRecipe({c.With(words), inputs, recipe})),
        judge(c, inputs, recipe) {}
  Observation seen() const {
    return {c, inputs, recipe, judge.golden(), judge.permitted(), answer};
  }
  Candidate CandidateOf(const Defect& defect) const {
    return {[this, defect] { return defect.hypothesis(c, inputs, recipe); }, false};
  }

  Tensors answer;
  Judge judge;
};

// 131072 elements: more than are always compared.
const Asked& Large() {
  static const Asked asked("rope pairing=half H=4 S=256 D=128 dtype=f32", "pairing=interleaved");
  return asked;
}
const Defect kRight = ChangedWord("right", "", "pairing=interleaved");
const Defect kWrong = ShiftedInput("wrong", "", "position", 1);

TEST(Evidence, TellsWhatExplainsTheAnswer) {
  Evidence evidence(Large().seen());
  const auto fits = evidence.FitsOf({Large().CandidateOf(kWrong), Large().CandidateOf(kRight)});
  EXPECT_FALSE(fits[0].explains);
  EXPECT_TRUE(fits[1].explains);
  EXPECT_EQ(fits[1].compared, Evidence::kAlways);
  EXPECT_LE(fits[1].verified, Evidence::kAlways);
  EXPECT_GT(fits[1].verified, Evidence::kAlways / 2);  // most elements fail
}

TEST(Evidence, ComparesWrongHypothesesWithFewElements) {
  Evidence evidence(Large().seen());
  evidence.FitsOf(std::vector(100, Large().CandidateOf(kWrong)));
  EXPECT_LE(evidence.compared(), 100 * 128u);  // one row
}

TEST(Evidence, ComparesAllExplanationsTogetherWithALimitedPart) {
  Evidence evidence(Large().seen());
  const auto fits = evidence.FitsOf(std::vector(4, Large().CandidateOf(kRight)));
  EXPECT_LE(evidence.compared(), 4 * 2 * Evidence::kWitnessed + Evidence::kAlways);
  for (const Fit& fit : fits) {
    EXPECT_TRUE(fit.explains);
    EXPECT_LE(fit.compared, Evidence::kAlways / 4);
    EXPECT_GT(fit.compared, Evidence::kAlways / 8);
    EXPECT_LE(fit.verified, fit.compared);
  }
}

TEST(Evidence, ComparesAPartOfALargeCase) {
  const Asked asked("activation kind=relu N=1024 F=2560", "kind=relu2");
  Evidence evidence(asked.seen());
  const Fit fit = evidence.FitOf(
      *ChangedWord("", "", "kind=relu2").hypothesis(asked.c, asked.inputs, asked.recipe));
  EXPECT_TRUE(fit.explains);
  EXPECT_GT(fit.compared, Evidence::kAlways);
  EXPECT_LE(fit.compared, 1024u * 2560 / 32);
}

// The hypothesis would be compared with all elements at once: 2^24 products, or 2^27.
TEST(Evidence, LeavesOutHypothesesAcrossSlicesThatCostTooMuch) {
  for (const bool is_large : {false, true}) {
    const Asked asked(is_large ? "linear N=16 M=8192 F=1024" : "linear N=2 M=8192 F=1024",
                      "seed=1");
    Evidence evidence(asked.seen());
    const Hypothesis right{asked.c.operation().Clone(), SharedInputs::Of(asked.inputs),
                           asked.recipe, /*is_across_slices=*/true};
    EXPECT_EQ(evidence.FitOf(right).compared, is_large ? 0u : 2048u);
    EXPECT_EQ(evidence.compared(), is_large ? 0u : 2048u);
  }
}

// One element of many contradicts.
TEST(Evidence, ComparesEveryElementOfACaseThatIsNotLarge) {
  Asked asked("rope pairing=half H=4 S=128 D=128 dtype=f32", "pairing=interleaved");
  for (const size_t i : {size_t{0}, size_t{44444}, Evidence::kAlways - 1}) {
    const double before = asked.answer[0].values.data[i];
    asked.answer[0].values.data[i] = 100;
    Evidence evidence(asked.seen());
    EXPECT_FALSE(evidence.FitsOf({asked.CandidateOf(kRight)})[0].explains) << i;
    asked.answer[0].values.data[i] = before;
  }
}

TEST(Evidence, DoesNotDependOnThreads) {
  for (const Defect& defect : {kRight, kWrong}) {
    const auto fit_by = [&](int threads) {
      Evidence evidence(Large().seen(), {.threads = threads});
      return evidence.FitsOf({Large().CandidateOf(defect), Large().CandidateOf(kRight)})[0];
    };
    const Fit one = fit_by(1), two = fit_by(2);
    EXPECT_EQ(one.explains, two.explains);
    EXPECT_EQ(one.distance, two.distance);
    EXPECT_EQ(one.compared, two.compared);
  }
}

// The formula in f32 of a real kernel whose rounding is its own.
TEST(Evidence, ExplainsTheAnswerOfAnotherImplementation) {
  Asked asked("rope pairing=half H=4 S=256 D=128 dtype=f32", "pairing=interleaved");
  asked.answer = EvaluateByRecipe(
      {asked.c.With("pairing=interleaved"), asked.inputs, ParseRecipe("exact", DType::kF32)});
  Evidence evidence(asked.seen());
  EXPECT_TRUE(evidence.FitsOf({asked.CandidateOf(kRight)})[0].explains);
}

}  // namespace
}  // namespace sextant::oracle

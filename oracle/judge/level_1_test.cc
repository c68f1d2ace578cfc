// Verdicts by level 1 of the ladder (enclosures) are those by proven values.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"
#include "oracle/judge/undecided.h"
#include "reference/case/random_test.h"

namespace sextant::oracle {
namespace {

const std::string kLines[] = {
    "attention H=4 K=2 S=9 T=40 D=16 mask=causal dtype=bf16",
    "attention H=4 K=2 S=9 T=40 D=16 dtype=f32 soft_cap=3",
    "attention H=2 K=1 S=5 T=300 D=8 dtype=f16 @q=normal(8)",
    "attention H=2 K=2 S=3 T=17 D=8 dtype=f32 @q=normal(1e-30) @k=normal(1e30)",
    "attention H=4 K=2 S=9 T=40 D=16 dtype=f32 @q=normal(1000) @k=normal(1000)",
    "attention with=sink H=4 K=2 S=9 T=20 D=16 dtype=bf16",
    "attention with=bias H=2 K=2 S=9 T=20 D=16 dtype=f32",
    "attention_scores H=4 K=2 S=9 T=20 D=16 dtype=bf16",
    "rope_attention pairing=half H=2 K=1 S=6 T=12 D=8 dtype=bf16",
    "softmax N=6 M=300 dtype=bf16 @x=normal(30)",
    "linear N=6 M=100 F=10 dtype=f32",
    "rms_norm N=6 M=100 dtype=bf16",
    "rope pairing=half H=2 S=9 D=16 dtype=bf16",
};

void ExpectSameElement(const Element& a, const Element& b, const std::string& text) {
  EXPECT_EQ(a.where, b.where) << text;
  EXPECT_EQ(a.got, b.got) << text;
  EXPECT_EQ(a.expected, b.expected) << text;
  EXPECT_EQ(a.permitted, b.permitted) << text;
  EXPECT_EQ(a.error, b.error) << text;
}

// How far a mean of errors / permitted errors may move: r for the centre, 2 r for the permitted
// error, and the slack of prove.h (Enclose).
double ReachOfMeans(const Judge& enclosed) {
  double reach = 0;
  for (size_t o = 0; o < enclosed.golden().size(); ++o) {
    for (size_t i = 0; i < enclosed.golden()[o].radius.data.size(); ++i) {
      const double r = -enclosed.golden()[o].radius.data[i];
      if (r > 0) reach = std::max(reach, 3 * r / enclosed.permitted()[o].error.data[i]);
    }
  }
  return reach + 0x1p-39;
}

// All but the mean errors, which may differ by `reach`.
void ExpectSameVerdict(const Verdict& a, const Verdict& b, double reach, const std::string& text) {
  EXPECT_EQ(a.status, b.status) << text;
  EXPECT_EQ(a.grade, b.grade) << text;
  ASSERT_EQ(a.tensors.size(), b.tensors.size()) << text;
  for (size_t t = 0; t < a.tensors.size(); ++t) {
    const TensorVerdict &x = a.tensors[t], &y = b.tensors[t];
    EXPECT_EQ(x.grade, y.grade) << text;
    EXPECT_EQ(x.failed, y.failed) << text;
    EXPECT_EQ(x.judged, y.judged) << text;
    EXPECT_EQ(x.unlikely, y.unlikely) << text;
    EXPECT_EQ(x.enclosed, y.enclosed) << text;
    ExpectSameElement(x.worst, y.worst, text);
    EXPECT_NEAR(x.bias, y.bias, reach) << text;
    EXPECT_NEAR(x.spread, y.spread, reach) << text;
  }
}

// Judges by both.
void ExpectEqualLevels(const DrawnCase& q, const Tensors& answer, const std::string& text) {
  const Judge enclosed(q.c, q.inputs, q.recipe);
  const Judge proven(q.c, q.inputs, q.recipe, ProveAndPermit(q));
  const double reach = ReachOfMeans(enclosed);

  ExpectSameVerdict(enclosed.Evaluate(answer), proven.Evaluate(answer), reach,
                    q.c.ToString() + text);
}

TEST(Level1, CorrectAnswersHaveTheVerdictsOfProvenValues) {
  for (const std::string& line : kLines) {
    const DrawnCase q(line);
    ExpectEqualLevels(q, q.CorrectAnswer(), ": correct");
  }
}

// Element i of an answer, moved to the largest permitted number, and beyond it.
TEST(Level1, AnswersAtThePermittedErrorHaveTheVerdictsOfProvenValues) {
  Random random(3);
  size_t moved = 0;
  for (const std::string& line : kLines) {
    const DrawnCase q(line);
    const ProvenAndPermitted exact = ProveAndPermit(q);
    for (int repeat = 0; repeat < 3; ++repeat) {
      Tensors answer = q.CorrectAnswer();
      const size_t o = random.Below(answer.size());
      std::vector<double>& data = answer[o].values.data;
      const size_t i = random.Below(data.size());
      const double most = exact.golden[o].high.data[i] + exact.permitted[o].error.data[i];
      if (!std::isfinite(most)) continue;
      ++moved;
      data[i] = RoundTo(answer[o].dtype, most);
      for (const char* text : {": at the limit", ": beyond", ": far beyond"}) {
        ExpectEqualLevels(q, answer, text);
        data[i] = NextUp(answer[o].dtype, data[i]);
      }
    }
  }
  EXPECT_GT(moved, 20U);
}

TEST(Level1, PermittedErrorsExceedTheProvenOnesByAtMostTheStatedMargin) {
  size_t enclosed = 0;
  for (const std::string& line : kLines) {
    const DrawnCase q(line);
    const ProvenAndPermitted a = Enclose(q), b = ProveAndPermit(q);
    for (size_t o = 0; o < a.golden.size(); ++o) {
      for (size_t i = 0; i < a.golden[o].high.data.size(); ++i) {
        const double r = -a.golden[o].radius.data[i];
        const double bound = b.permitted[o].error.data[i];
        if (!(r > 0)) continue;
        ++enclosed;
        const double margin = 2 * r + bound * 0x1p-40;
        EXPECT_NEAR(a.permitted[o].error.data[i], bound, margin) << line << " " << o << " " << i;
        EXPECT_NEAR(a.permitted[o].likely.data[i], b.permitted[o].likely.data[i], margin) << line;
        // A proven number has half a unit of low as its error (golden.h).
        const double high = b.golden[o].high.data[i], half_unit = std::abs(high) * 0x1p-73;
        EXPECT_LE(std::abs((a.golden[o].high.data[i] - high) +
                           (a.golden[o].low.data[i] - b.golden[o].low.data[i])),
                  r * (1 + 0x1p-20) + half_unit)
            << line << " " << o << " " << i;
      }
    }
  }
  EXPECT_GT(enclosed, 500U);  // else level 1 was not used
}

// A judge of many cases with few undecided elements must not prove everything.
TEST(Level1, ACorrectAnswerNeedsFewProofs) {
  const DrawnCase q("attention H=4 K=2 S=40 T=40 D=16 mask=causal dtype=bf16");
  const ProvenAndPermitted enclosed = Enclose(q);
  const ElementMarks marks = Undecided(enclosed, q.CorrectAnswer(), 1).Next();
  size_t marked = 0;
  for (const auto& of : marks) marked += static_cast<size_t>(std::ranges::count(of, 1));
  EXPECT_GT(marked, 0U);
  EXPECT_LT(marked, 10U);
}

TEST(Level1, Float64IsProven) {
  const DrawnCase q("attention H=2 K=1 S=4 T=9 D=8 dtype=f64");
  const ProvenAndPermitted proven = Enclose(q);
  for (const double radius : proven.golden[0].radius.data) EXPECT_EQ(radius, 0);
}

}  // namespace
}  // namespace sextant::oracle

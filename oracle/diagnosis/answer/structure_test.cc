#include "oracle/diagnosis/answer/structure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {
namespace {

// y[8,6]; every number of the right answer is another.
struct PlantedStructure : DrawnCase {
  explicit PlantedStructure(const std::string& dtype,
                            const std::string& line = "linear N=8 F=6 M=16")
      : DrawnCase(line + " dtype=" + dtype), right(CorrectAnswer()) {}

  // `at` gives the number at each index; `y` is the right answer.
  template <class At>
  std::vector<std::string> Sentences(At at) const {
    Tensors answer = right;
    Tensor<double>& y = answer[0].values;
    const size_t width = y.shape[1];
    for (size_t i = 0; i < y.data.size(); ++i) {
      y.data[i] = RoundTo(
          answer[0].dtype,
          at([&](size_t n, size_t f) { return right[0].values(n, f); }, i / width, i % width));
    }
    return SentencesOf(answer);
  }
  std::vector<std::string> SentencesOf(const Tensors& answer) const {
    const Judge judge(c, inputs, recipe);
    AnsweredTensors tensors({c, inputs, recipe, judge.golden(), judge.permitted(), answer});
    std::vector<std::string> sentences;
    for (const StructuralFinding& finding : StructureOf(tensors))
      sentences.push_back(finding.name + ": " + finding.sentence);
    return sentences;
  }

  Tensors right;
};

class Structure : public testing::TestWithParam<const char*> {
 protected:
  const PlantedStructure planted{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Formats, Structure, testing::Values("f32", "bf16"),
                         [](const auto& info) { return info.param; });

// Row 2 and column 1 are 0: only the larger of both is said, because it has no gaps.
TEST_P(Structure, FindsTheLargestSlabOfACross) {
  EXPECT_THAT(planted.Sentences(
                  [](auto y, size_t n, size_t f) { return n == 2 || f == 1 ? 0.0 : y(n, f); }),
              ElementsAre(StartsWith("unwritten: y is 0 at F 1 (8 of 13 failing elements)")));
}

TEST_P(Structure, FindsRowsThatWereNeverWritten) {
  for (const auto& [number, text] : {std::pair(0.0, "0"), {kNaN, "nan"}, {-7.5, "-7.5"}}) {
    EXPECT_THAT(planted.Sentences([number = number](auto y, size_t n, size_t f) {
      return n < 5 ? y(n, f) : number;
    }),
                ElementsAre("unwritten: y is " + std::string(text) +
                            " at N 5 to 7 (18 of 18 failing elements)"));
  }
}

TEST_P(Structure, FindsAFunctionOfEveryNumber) {
  EXPECT_THAT(
      planted.Sentences([](auto y, size_t n, size_t f) { return std::max(y(n, f), 0.0); }),
      ElementsAre(StartsWith("function_of_output: y is 0 where it should be negative: max(y, 0)")));
  EXPECT_THAT(
      planted.Sentences([](auto y, size_t n, size_t f) { return std::clamp(y(n, f), -1.0, 1.0); }),
      ElementsAre(StartsWith("function_of_output: y is limited (clamped): at least -1 and at most "
                             "1")));
  EXPECT_THAT(planted.Sentences([](auto y, size_t n, size_t f) { return std::tanh(y(n, f)); }),
              ElementsAre(StartsWith("function_of_output: y has gone through the function tanh")));
}

// Positive numbers below the normal ones of f16 become 0. No relu does that.
TEST(StructureOfSmallNumbers, IsNoFunction) {
  const PlantedStructure planted("f16", "softmax N=32 M=80 @x=normal(4)");
  size_t lost = 0;
  const auto flushed = [&](auto y, size_t n, size_t m) {
    const bool is_small = y(n, m) < 0x1p-22;
    lost += is_small && y(n, m) > 0;
    return is_small ? 0.0 : y(n, m);
  };
  EXPECT_THAT(planted.Sentences(flushed), Not(Contains(StartsWith("function_of_output"))));
  EXPECT_GT(lost, 16u);
}

// Rows that were never written hide that the others have gone through a function.
TEST_P(Structure, LeavesOutWhatIsExplained) {
  const auto at = [](auto y, size_t n, size_t f) { return n < 5 ? std::abs(y(n, f)) : 0.0; };
  EXPECT_THAT(planted.Sentences(at),
              ElementsAre("unwritten: y is 0 at N 5 to 7 (18 of 32 failing elements)"));
}

TEST_P(Structure, FindsColumnsAndATailThatWereNeverWritten) {
  EXPECT_THAT(planted.Sentences([](auto y, size_t n, size_t f) { return f < 4 ? y(n, f) : 0; }),
              ElementsAre("unwritten: y is 0 at F 4 to 5 (16 of 16 failing elements)"));
  EXPECT_THAT(
      planted.Sentences([](auto y, size_t n, size_t f) { return n * 6 + f < 32 ? y(n, f) : 0; }),
      ElementsAre("unwritten: y is 0 at all elements from 32 = 2^5 on (16 of 16 failing "
                  "elements)"));
}

TEST_P(Structure, FindsRowsOfOtherPlaces) {
  const auto moved = [&](auto source) {
    return planted.Sentences([&](auto y, size_t n, size_t f) { return y(source(n), f); });
  };
  EXPECT_THAT(moved([](size_t n) { return n < 4 ? n : 1; }),
              ElementsAre("moved: y has the right numbers of N 1 at N 4 to 7 (24 of 24 failing "
                          "elements)"));
  EXPECT_THAT(moved([](size_t n) { return n < 2 ? n : n - 1; }),
              ElementsAre(StartsWith("moved: y has the right numbers of N - 1 at N 2 to 7")));
  EXPECT_THAT(moved([](size_t n) { return (n + 3) % 8; }),
              ElementsAre(StartsWith("moved: y has the right numbers of (N + 3) modulo 8")));
  EXPECT_THAT(
      moved([](size_t n) { return 7 - n; }),
      ElementsAre(StartsWith("moved: y has the right numbers of N in another order (reversed)")));
  EXPECT_THAT(moved([](size_t n) { return n % 3; }),
              ElementsAre(StartsWith("moved: y has the right numbers of N modulo 3 at N 3 to 7")));
  EXPECT_THAT(moved([](size_t n) { return n / 2; }),
              ElementsAre(StartsWith("moved: y has the right numbers of N divided by 2")));
}

TEST_P(Structure, FindsColumnsOfOtherPlaces) {
  EXPECT_THAT(
      planted.Sentences([](auto y, size_t n, size_t f) { return y(n, f % 2 * 3 + f / 2); }),
      ElementsAre(HasSubstr("the right numbers of F in another order (both halves interleaved)")));
}

// Runs of rows in another order that no formula gives.
TEST_P(Structure, FindsRunsOfOtherRows) {
  const PlantedStructure wide(GetParam(), "linear N=8 F=20 M=16");
  EXPECT_THAT(
      wide.Sentences([](auto y, size_t n, size_t f) {
        constexpr size_t kFrom[] = {0, 1, 5, 6, 4, 7, 2, 3};
        return y(kFrom[n], f);
      }),
      ElementsAre("moved: y has the right numbers of other N: those of N 5 to 6 at N 2 to 3, "
                  "N 7 at N 5, N 2 to 3 at N 6 to 7 (100 of 100 failing elements)"));
}

TEST_P(Structure, FindsExchangedAxes) {
  EXPECT_THAT(planted.Sentences([](auto y, size_t n, size_t f) {
    const size_t flat = n * 6 + f;
    return y(flat % 8, flat / 8);
  }),
              ElementsAre("moved: y is stored as if its axes 0 and 1 were exchanged (46 of 46 "
                          "failing elements)"));
}

TEST_P(Structure, FindsSums) {
  const auto sum = [&](size_t before) {
    return planted.Sentences([&](auto y, size_t n, size_t f) {
      double total = 0;
      for (size_t i = n < before ? 0 : n - before; i <= n; ++i) total += y(i, f);
      return total;
    });
  };
  EXPECT_THAT(sum(7), ElementsAre(StartsWith("accumulated: y is the sum of the right numbers of "
                                             "all N up to its own")));
  EXPECT_THAT(sum(1), ElementsAre(StartsWith("accumulated: y is the sum of the right numbers of "
                                             "its own N and of the one before")));
}

TEST_P(Structure, FindsUsualFactors) {
  for (const auto& [factor, text] :
       {std::pair(-1.0, "-1"), {2.0, "2"}, {1 / std::sqrt(96), "1/sqrt(96)"}}) {
    EXPECT_THAT(planted.Sentences(
                    [factor = factor](auto y, size_t n, size_t f) { return factor * y(n, f); }),
                ElementsAre("factor: y is " + std::string(text) +
                            " times the right numbers (48 of 48 failing elements)"));
  }
}

// The zeros elsewhere have another reason.
TEST_P(Structure, FindsColumnsOfZerosBesideOtherZeros) {
  EXPECT_THAT(planted.Sentences([](auto y, size_t n, size_t f) {
    return f == 4 || (n == 2 && f == 1) ? 0 : y(n, f);
  }),
              ElementsAre("unwritten: y is 0 at F 4 (8 of 9 failing elements)"));
}

// In bf16 the factor is known to two digits only: it may be any number.
TEST_P(Structure, FindsUnusualFactors) {
  const auto sentences =
      planted.Sentences([](auto y, size_t n, size_t f) { return 1.3 * y(n, f); });
  if (planted.c.dtype() == DType::kBF16) {
    EXPECT_THAT(sentences, IsEmpty());
  } else {
    EXPECT_THAT(
        sentences,
        ElementsAre("factor: y is 1.3 times the right numbers (48 of 48 failing elements)"));
  }
}

TEST_P(Structure, FindsAddedNumbers) {
  EXPECT_THAT(planted.Sentences([](auto y, size_t n, size_t f) { return y(n, f) - 7; }),
              ElementsAre(StartsWith("added: -7")));
  EXPECT_THAT(
      planted.Sentences([](auto y, size_t n, size_t f) { return y(n, f) + 2.5 * f; }),
      ElementsAre(testing::AllOf(StartsWith("added: 2.5"), HasSubstr("times the index F"))));
}

TEST(StructureOf, FindsAnInputThatWasPassedThrough) {
  const PlantedStructure planted("f32", "rope pairing=half H=2 S=8 D=16");
  Tensors answer = planted.right;
  const std::vector<double>& x = planted.inputs[0].values.data;
  std::copy(x.begin() + 13 * 16, x.end(), answer[0].values.data.begin() + 13 * 16);
  EXPECT_THAT(planted.SentencesOf(answer),
              ElementsAre("copied: y is x, unchanged, at H 1, S 5 to 7 (48 of 48 failing "
                          "elements)"));
}

// A factor of 1.01 may be the error of a step; a factor of the positive numbers has no name.
TEST_P(Structure, SaysNothingAboutOtherAnswers) {
  EXPECT_THAT(planted.Sentences([](auto y, size_t n, size_t f) { return 1.01 * y(n, f); }),
              IsEmpty());
  EXPECT_THAT(planted.Sentences([](auto y, size_t n, size_t f) {
    return y(n, f) + 0.3 * std::max(0.0, y(n, f));
  }),
              IsEmpty());
  EXPECT_THAT(
      planted.Sentences([](auto y, size_t n, size_t f) { return y(n, f) + 0.1 * (n == 3); }),
      IsEmpty());
}

TEST(StructureOf, SaysNothingAboutOtherPrecisions) {
  for (const char* line :
       {"rms_norm N=8 M=64", "softmax N=8 M=64",
        "rope pairing=half H=2 S=8 D=64 @position=0,1,500..502,8191,9000,9001"}) {
    for (const char* recipe : {"*=bf16", "*=f16 store=T", "native flush"}) {
      const PlantedStructure planted("f32", line);
      const Tensors answer =
          EvaluateByRecipe({planted.c, planted.inputs, ParseRecipe(recipe, planted.c.dtype())});
      EXPECT_THAT(planted.SentencesOf(answer), IsEmpty()) << line << " " << recipe;
    }
  }
}

TEST(WithoutExplained, LeavesTheRestToOtherCauses) {
  const PlantedStructure planted("f32");
  const StructuralFinding finding{"unwritten", "", 0, std::vector<char>(48, 0), 1};
  auto findings = std::vector{finding};
  findings[0].explained[5] = 1;
  const auto permitted = PermittedErrors(planted);
  const auto rest = WithoutExplained(permitted, findings);
  EXPECT_TRUE(std::isnan(rest[0].error.data[5]));
  EXPECT_EQ(rest[0].error.data[4], permitted[0].error.data[4]);
}

// A formula with a factor 0 would predict the same.
TEST(NotComputedIn, FindsOutputsOfOneNumberAndCopiesOfInputs) {
  const DrawnCase drawn("rms_norm N=8 M=16");
  const Judge judge(drawn.c, drawn.inputs, drawn.recipe);
  const auto sentences = [&](auto at) {
    Tensors answer = drawn.CorrectAnswer();
    std::vector<double>& y = answer[0].values.data;
    for (size_t i = 0; i < y.size(); ++i) y[i] = at(i, y[i]);
    AnsweredTensors tensors(
        {drawn.c, drawn.inputs, drawn.recipe, judge.golden(), judge.permitted(), answer});
    std::vector<std::string> all;
    for (const StructuralFinding& finding : NotComputedIn(tensors)) all.push_back(finding.sentence);
    return all;
  };
  EXPECT_THAT(sentences([](size_t i, double) { return i % 2 == 0 ? 0.0 : -0.0; }),
              ElementsAre("y is 0 everywhere (128 of 128 failing elements)"));
  EXPECT_THAT(sentences([&](size_t i, double) { return drawn.inputs[0].values.data[i]; }),
              ElementsAre(StartsWith("y is x, unchanged, everywhere (")));
  EXPECT_THAT(sentences([](size_t i, double y) { return i < 16 ? y : 0.0; }), IsEmpty());
}

}  // namespace
}  // namespace sextant::oracle

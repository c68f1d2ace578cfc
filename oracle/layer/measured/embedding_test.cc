#include "oracle/layer/measured/embedding.h"

#include <cmath>

#include "oracle/layer/measured/answer_test.h"

namespace sextant::oracle {
namespace {

struct MeasuredEmbedding : MeasuredInDType {
  // What is said about row(token, place) of the table, times the scale.
  std::vector<std::string> If(const std::string& words, double scale,
                              size_t (*row)(size_t token, size_t place)) {
    const MeasuredCase question(Line("embedding S=40 V=300 M=6 " + words));
    return question.Causes([&](size_t i) {
      const auto token = static_cast<size_t>(question.In("token").data[i / 6]);
      return question.In("table")(row(token, i / 6), i % 6) * scale;
    });
  }
};

TEST_P(MeasuredEmbedding, ShiftedTokens) {
  EXPECT_THAT(
      If("", 1, [](size_t token, size_t) { return (token + 3) % 300; }),
      Contains(AllOf(StartsWith("token_shifted: tokens have 3 added, modulo the number of rows"),
                     HasSubstr("different tokens of 40 read another row"))));
}

TEST_P(MeasuredEmbedding, ClampedTokens) {
  EXPECT_THAT(If("", 1, [](size_t t, size_t) { return std::min<size_t>(t, 250); }),
              Contains(StartsWith("token_clamped: tokens above 250 act as 250")));
}

TEST_P(MeasuredEmbedding, WrappedTokens) {
  EXPECT_THAT(If("", 1, [](size_t token, size_t) { return token % 96; }),
              Contains(StartsWith("token_wrapped: tokens are taken modulo 96")));
}

TEST_P(MeasuredEmbedding, ScaleAndShift) {
  EXPECT_THAT(If("scale=2", std::sqrt(6.0), [](size_t t, size_t) { return t > 0 ? t - 1 : 299; }),
              Contains(AllOf(StartsWith("scale+token_shifted: the table is multiplied by sqrt(6)"),
                             HasSubstr("expected 2; tokens have -1 added"))));
}

TEST_P(MeasuredEmbedding, TransposedTableWithAScale) {
  const MeasuredCase question(Line("embedding S=40 V=50 M=6"));
  EXPECT_THAT(
      question.Causes([&](size_t i) {
        const auto token = static_cast<size_t>(question.In("token").data[i / 6]);
        return 3 * question.In("table").data[i % 6 * 50 + token];
      }),
      Contains(StartsWith("table_transposed+scale: the table is read as [M,V]; the table is "
                          "multiplied by 3")));
}

TEST_P(MeasuredEmbedding, ReversedTable) {
  EXPECT_THAT(If("", 1, [](size_t t, size_t) { return 299 - t; }),
              Contains(StartsWith("token_reversed: tokens are subtracted from 299")));
}

TEST_P(MeasuredEmbedding, ARowThatIsAdded) {
  const MeasuredCase question(Line("embedding S=40 V=50 M=6"));
  const auto if_added = [&](const std::function<size_t(size_t token)>& more) {
    return question.Causes([&](size_t i) {
      const auto token = static_cast<size_t>(question.In("token").data[i / 6]);
      return question.In("table")(token, i % 6) + question.In("table")(more(token), i % 6);
    });
  };
  EXPECT_THAT(if_added([](size_t) { return 7; }),
              Contains(StartsWith("row_added: of the table row 7 is added to those of tokens ")));
  EXPECT_THAT(if_added([](size_t token) { return token < 25 ? 25 : 0; }),
              Contains(AllOf(StartsWith("row_added: of the table row 25 is added"),
                             HasSubstr("; row 0 is added to those of tokens "))));
}

TEST_P(MeasuredEmbedding, DividedTokens) {
  EXPECT_THAT(If("", 1, [](size_t t, size_t) { return t / 3; }),
              Contains(StartsWith("token_divided: tokens are divided by 3, rounded down")));
}

TEST_P(MeasuredEmbedding, ShiftedTokensUpToTheLast) {
  EXPECT_THAT(
      If("@token=290..299,0..29", 1, [](size_t t, size_t) { return std::min<size_t>(t + 5, 299); }),
      Contains(
          StartsWith("token_shifted_to_the_last: tokens have 5 added, and act as the last row")));
}

TEST_P(MeasuredEmbedding, ScaleAndOrderOfTheColumns) {
  const MeasuredCase question(Line("embedding S=40 V=300 M=6 scale=2"));
  EXPECT_THAT(question.Causes([&](size_t i) {
    return question.In("table")(static_cast<size_t>(question.In("token").data[i / 6]), (i + 3) % 6);
  }),
              ElementsAre(StartsWith("columns_halves_exchanged+scale: the columns of the table")));
}

TEST_P(MeasuredEmbedding, TokensOfThePreviousPlace) {
  const MeasuredCase question(Line("embedding S=40 V=300 M=6 scale=2"));
  EXPECT_THAT(question.Causes([&](size_t i) {
    const auto token = static_cast<size_t>(question.In("token").data[(i / 6 + 39) % 40]);
    return question.In("table")(token, i % 6);
  }),
              ElementsAre(AllOf(StartsWith("scale+token_of_previous_place: "),
                                HasSubstr("multiplied by 1, expected 2"))));
}

INSTANTIATE_TEST_SUITE_P(DTypes, MeasuredEmbedding, testing::Values("f32", "bf16"),
                         MeasuredInDType::NameOfTest);

TEST(MeasuredEmbedding, HonestRecipesAndOtherBugsAreNotAccused) {
  ExpectNoAccusation({"embedding S=40 V=300 M=6 scale=0.1"},
                     {"native scale=bf16", "native scale=f16", "*=bf16"});
  ExpectNoSentenceAboutZeros("embedding S=40 V=300 M=6 scale=0.1 dtype=f32");
}

}  // namespace
}  // namespace sextant::oracle

#include "reference/case/optional_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error_test.h"
#include "reference/case/case.h"
#include "reference/case/draw.h"
#include "reference/case/question.h"
#include "reference/prove/prove.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kLine = " H=2 K=1 S=3 T=4 D=2";

std::vector<std::string> InputsOf(const Case& c) {
  std::vector<std::string> names;
  for (const NamedTensor& input : DrawInputs(c)) names.push_back(input.name);
  return names;
}

std::string ErrorOf(const std::string& line) {
  return MessageOf([&] { Case::Parse(line); });
}

TEST(OptionalInputs, AreThoseOfTheWord) {
  EXPECT_THAT(InputsOf(Case::Parse("attention" + kLine)), ElementsAre("q", "k", "v"));
  EXPECT_THAT(InputsOf(Case::Parse("attention with=sink" + kLine)),
              ElementsAre("q", "k", "v", "sink"));
  EXPECT_THAT(InputsOf(Case::Parse("attention with=bias,sink" + kLine)),
              ElementsAre("q", "k", "v", "bias", "sink"));
}

TEST(OptionalInputs, AreNamedInTheCanonicalLineInTheirOrder) {
  EXPECT_THAT(Case::Parse("attention" + kLine).ToString(), Not(HasSubstr("with=")));
  EXPECT_THAT(Case::Parse("attention" + kLine + " with=sink,bias").ToString(),
              StartsWith("attention with=bias,sink "));
}

TEST(OptionalInputs, CanBeChanged) {
  const Case c = Case::Parse("attention with=bias" + kLine);
  EXPECT_THAT(InputsOf(c.With("with=")), ElementsAre("q", "k", "v"));
  EXPECT_THAT(InputsOf(c.With("with=sink")), ElementsAre("q", "k", "v", "sink"));
  EXPECT_THAT(InputsOf(Case(c)), ElementsAre("q", "k", "v", "bias"));
}

TEST(OptionalInputs, DoNotChangeTheNumbersOfOthers) {
  const Tensors plain = DrawInputs(Case::Parse("attention" + kLine));
  const Tensors biased = DrawInputs(Case::Parse("attention with=bias,sink" + kLine));
  EXPECT_TRUE(SameBits(plain, {biased.begin(), biased.begin() + 3}));
}

TEST(OptionalInputs, ThatAreUnknownDoubledOrAbsentAreOneError) {
  EXPECT_EQ(ErrorOf("attention with=bais" + kLine),
            "attention has no optional input 'bais'; it has: bias sink q_scale k_scale v_scale");
  EXPECT_EQ(ErrorOf("attention with=q" + kLine),
            "attention has no optional input 'q'; it has: bias sink q_scale k_scale v_scale");
  EXPECT_EQ(ErrorOf("attention with=sink,sink" + kLine), "attention: with= has sink twice");
  EXPECT_EQ(ErrorOf("attention @bias=normal" + kLine),
            "attention: @bias= is given, but this case has no bias; expected it in with=");
  EXPECT_EQ(ErrorOf("attention with=bias dtype.sink=f32" + kLine),
            "attention: dtype.sink= is given, but this case has no sink; expected it in with=");
  EXPECT_THAT(ErrorOf("attention with=bias," + kLine),
              HasSubstr("with=bias, ends with a comma, expected a name"));
  EXPECT_THAT(ErrorOf("attention with=,bias" + kLine), HasSubstr("has an empty name"));
}

// Its attributes decide which norms it has.
TEST(OptionalInputs, AnOperationWithoutWithNamesTheWordsThatReadThem) {
  const std::string line = "decoder_block pairing=half S=1 H=1 D=2 M=2 F=2 with=";
  EXPECT_EQ(ErrorOf(line + "q_norm"),
            "decoder_block has no with=: it reads q_norm with qk_norm=head or qk_norm=full");
  EXPECT_EQ(ErrorOf(line + "mlp_post_norm"),
            "decoder_block has no with=: it reads mlp_post_norm with placement=sandwich");
  EXPECT_THAT(ErrorOf(line + "bias"), HasSubstr("decoder_block has no attribute 'with'"));
}

TEST(OptionalInputs, OfAQuestionAreTheGivenTensors) {
  const Case c = Case::Parse("attention with=sink" + kLine);
  const auto own = [](const Tensors& inputs) {
    std::vector<OwnTensor> tensors;
    for (const NamedTensor& input : inputs)
      tensors.push_back({input.name,
                         {input.values.data.data(), ElementType::kF64, input.values.shape,
                          RowMajorStrides(input.values.shape)},
                         input.dtype});
    return tensors;
  };
  const Tensors inputs = DrawInputs(c);
  EXPECT_THAT(ParseQuestion("attention", own(inputs)).c.ToString(),
              StartsWith("attention with=sink "));
  EXPECT_THROW(ParseQuestion("attention with=bias", own(inputs)), Error);
  EXPECT_THROW(ParseQuestion("attention with=bias,sink", own(inputs)), Error);
}

// An operation that reads fewer inputs than it gets, as a mutation may, finds those that it reads.
TEST(OptionalInputs, AreReadByTheirNames) {
  const Case both = Case::Parse("attention with=bias,sink" + kLine);
  const Case one = both.With("with=sink");
  const Recipe recipe = ParseRecipe("native", both.dtype());
  const Tensors expected = EvaluateByRecipe({one, DrawInputs(one), recipe});
  const Tensors y = EvaluateByRecipe({both, DrawInputs(both), recipe, one.operation()});
  EXPECT_TRUE(SameBits(y, expected));
}

}  // namespace
}  // namespace sextant

#include "oracle/identify/identify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/identify/key_heads.h"
#include "oracle/identify/probe.h"
#include "reference/number/tensor/dtype.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

// A black box: computes what its words say, whatever it is asked.
AskSubject BlackBox(const std::vector<std::string>& words, const std::string& recipe = "native") {
  return [=](const Case& c, const Tensors& inputs) {
    const Case own = c.With(words);
    const Recipe by = ParseRecipe(recipe, c.dtype());
    return Answer{Answer::Status::kAnswered, "",
                  EvaluateByRecipe({c, inputs, by, own.operation()})};
  };
}

Identity Identified(const std::string& line, const std::vector<std::string>& words,
                    const std::string& recipe = "native") {
  return Identify(ProbesOf(line), BlackBox(words, recipe),
                  {.recipes = {"native", "f32_compute"}, .known = {}, .threads = 0});
}

struct BlackBoxCase {
  std::string line;
  std::vector<std::string> words;
};
class IdentifyBlackBox : public testing::TestWithParam<BlackBoxCase> {};

TEST_P(IdentifyBlackBox, FindsItsAttributes) {
  const auto& [line, words] = GetParam();
  const Identity found = Identified(line, words);
  EXPECT_EQ(found.c.ToString(), ProbesOf(line)[0].With(words).ToString());
  EXPECT_NE(found.recipe, "");  // native, or a narrower one by which these answers conform, too
  EXPECT_GT(found.judged, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Quick, IdentifyBlackBox,
    testing::Values(BlackBoxCase{"rms_norm", {"eps=3e-06", "unit_offset=true"}},
                    BlackBoxCase{"layer_norm", {"eps=1e-06"}},
                    BlackBoxCase{"activation", {"kind=swish", "beta=1.25"}},
                    BlackBoxCase{"gated",
                                 {"kind=swiglu", "limit=5", "beta=1.5", "plus_one=true"}}));

INSTANTIATE_TEST_SUITE_P(
    Slow, IdentifyBlackBox,
    testing::Values(
        BlackBoxCase{"rope D=16", {"pairing=interleaved", "base=12345"}},
        BlackBoxCase{"rope D=16", {"pairing=half", "R=12", "offset=2", "base=1e+06"}},
        BlackBoxCase{"rope D=32", {"scaling=linear(factor=3)", "direction=transpose"}},
        BlackBoxCase{"rope D=32 dtype=bf16", {"pairing=interleaved", "base=500000"}},
        BlackBoxCase{"rope D=32 dtype=bf16", {"pairing=interleaved", "base=1164.9"}},
        BlackBoxCase{"rope D=64 dtype=bf16", {"scaling=ntk(factor=16)"}},
        BlackBoxCase{"rope D=64 dtype=bf16",
                     {"scaling=yarn(factor=40,original_max_position_embeddings=4096,"
                      "attention_factor=1)"}},
        BlackBoxCase{"attention", {"window=[4,0]", "soft_cap=20"}},
        BlackBoxCase{"attention", {"scale=0.3", "chunk=5"}},
        BlackBoxCase{"attention H=6 K=2", {"scale=1", "window=[9,4]", "key_length=[12]"}},
        BlackBoxCase{"attention dtype=bf16", {"mask=causal", "align=top_left", "soft_cap=43"}},
        BlackBoxCase{"attention with=sink", {"mask=causal", "align=top_left"}},
        BlackBoxCase{"attention S=16 T=16", {"mask=causal", "segments=[5,8]"}},
        BlackBoxCase{"attention mask=causal", {"window=[4,-1]"}},
        BlackBoxCase{"attention S=12 T=19", {"segments=[9,4]", "soft_cap=30"}},
        BlackBoxCase{"rope D=64",
                     {"base=500000",
                      "scaling=llama3(factor=32,low_freq_factor=1,"
                      "high_freq_factor=4,original_max_position_embeddings=8192)"}},
        BlackBoxCase{"rope_sections D=32 A=3",
                     {"sections=[8,4,4]", "order=trailing", "pairing=interleaved"}},
        BlackBoxCase{"rope_sections D=64 A=2 dtype=bf16",
                     {"R=32", "sections=[8,8]", "order=interleaved", "base=150000"}},
        BlackBoxCase{"rope_axial A=2",
                     {"R=16", "offset=7", "frequencies=pixel", "arrangement=alternating",
                      "pairing=interleaved", "max_freq=64"}},
        BlackBoxCase{
            "rope_axial D=48 A=3",
            {"R=24", "frequencies=lang", "arrangement=alternating", "pairing=half", "base=100"}},
        BlackBoxCase{"rope_matrix D=32", {"pairing=interleaved", "scaling=linear(factor=3)"}},
        BlackBoxCase{"rope_matrix D=64 dtype=bf16", {"base=500000", "scaling=llama3(factor=8)"}},
        BlackBoxCase{"rope_cos_sin R=32 layout=halves", {"base=150000", "scaling=ntk(factor=4)"}},
        BlackBoxCase{"rope_frequencies R=64", {"base=150000", "scaling=linear(factor=3)"}},
        BlackBoxCase{"xpos", {"role=key", "gamma=0.7", "scale_base=100"}},
        BlackBoxCase{"xpos D=64 dtype=bf16", {"base=4760.9", "center=70"}}));

// No attributes give the answers: nothing is claimed, and the nearest claim is still valid.
TEST(Identify, ClaimsNothingIfNothingConforms) {
  const auto cubed = [](const Case& c, const Tensors& inputs) {
    Tensors y = EvaluateByRecipe({c, inputs, ParseRecipe("native", c.dtype())});
    for (size_t i = 0; i < y[0].values.data.size(); ++i) {
      const double x = inputs[0].values.data[i];
      y[0].values.data[i] = RoundTo(DType::kF32, x * x * x);
    }
    return Answer{Answer::Status::kAnswered, "", std::move(y)};
  };
  const Identity found =
      Identify(ProbesOf("activation"), cubed, {.recipes = {"native"}, .known = {}, .threads = 0});
  EXPECT_EQ(found.recipe, "");
  EXPECT_EQ(found.judged, 0u);
  EXPECT_TRUE(found.unseen.empty());
}

// Query head h reads key head h mod K. No attribute says that, but everything else is found.
TEST(SlowIdentify, SaysWhichKeyHeadsAreRead) {
  const AskSubject box = BlackBox({"mask=causal", "scale=0.3"});
  const auto tiled = [&](const Case& c, const Tensors& inputs) {
    const Exchange own = WithOwnKeyHeads({c, inputs, {}}, {0, 1, 0, 1});
    return box(own.c, own.inputs);
  };
  const auto questions = ProbesOf("attention H=4 K=2");
  const Identity found =
      Identify(questions, tiled, {.recipes = {"native"}, .known = {}, .threads = 0});
  EXPECT_EQ(found.key_heads, (std::vector<size_t>{0, 1, 0, 1}));
  EXPECT_EQ(found.c.ToString(),
            questions[0].With(std::vector<std::string>{"mask=causal", "scale=0.3"}).ToString());
  EXPECT_NE(found.recipe, "");
  const Identity right =
      Identify(questions, box, {.recipes = {"native"}, .known = {}, .threads = 0});
  EXPECT_TRUE(right.key_heads.empty());
}

// The numbers around an eps that conform, too.
TEST(Identify, SaysWhichNumbersConform) {
  const Identity norm = Identified("rms_norm M=16", {"eps=0.01"});
  ASSERT_EQ(norm.numbers.size(), 1u);
  EXPECT_EQ(norm.numbers[0].attribute, "eps");
  EXPECT_LT(norm.numbers[0].least, 0.01);
  EXPECT_GT(norm.numbers[0].most, 0.01);
  EXPECT_LT(norm.numbers[0].most - norm.numbers[0].least, 0.001);
}

// No known scaling has these frequencies: they are claimed as they were measured.
TEST(SlowIdentify, MeasuresFrequenciesOfNoKnownForm) {
  const std::vector<double> list = {1, 0.3, 0.2, 0.01, 0.007, 0.0005, 0.0004, 1e-5};
  const Identity found =
      Identified("rope D=16", {"scaling=explicit(inv_freq=" + PrintValue(list) + ")"});
  EXPECT_NE(found.recipe, "");
  EXPECT_THAT(found.c.ToString(), testing::HasSubstr("scaling=explicit(inv_freq=[1,0.3"));
  ASSERT_TRUE(found.nearest);
  EXPECT_THAT(found.nearest->ToString(), testing::Not(testing::HasSubstr("explicit")));
  ASSERT_EQ(found.numbers.size(), list.size());
  for (size_t k = 0; k < list.size(); ++k) {
    EXPECT_EQ(found.numbers[k].attribute, "scaling.inv_freq[" + std::to_string(k) + "]");
    EXPECT_LE(found.numbers[k].least, list[k]) << k;
    EXPECT_GE(found.numbers[k].most, list[k]) << k;
  }
  const Identity again = Identify({found.c.With("seed=7")},
                                  BlackBox({"scaling=explicit(inv_freq=" + PrintValue(list) + ")"}),
                                  {.recipes = {"native"}, .known = {}, .threads = 0});
  EXPECT_EQ(again.c.ToString(), found.c.With("seed=7").ToString());
}

// Half of the pairs of a list turn slowly: their angles show few digits, and all must conform.
TEST(SlowIdentify, MeasuresListsOfLongrope) {
  const Identity found =
      Identified("rope D=16", {"seq_len=131072",
                               "scaling=longrope(short_factor=[1,1,1,1,1,1,1,1],"
                               "long_factor=[1.05,1.2,3.7,20,41,48,60,59.5],"
                               "original_max_position_embeddings=4096,factor=32)"});
  EXPECT_NE(found.recipe, "");
  EXPECT_THAT(found.c.ToString(), testing::HasSubstr("scaling=explicit(inv_freq=[0.952"));
  EXPECT_THAT(found.c.ToString(), testing::HasSubstr("attention_factor=1.19"));
  EXPECT_TRUE(found.nearest);
}

// A limit of 9.6 is permitted, too, if every step is rounded to bf16.
TEST(Identify, FindsNumbersByTheNarrowestRecipe) {
  const Identity found =
      Identified("gated dtype=bf16", {"kind=swiglu", "limit=9.63"}, "f32_compute");
  EXPECT_EQ(found.c.ToString(), ProbesOf("gated dtype=bf16")[0]
                                    .With(std::vector<std::string>{"kind=swiglu", "limit=9.63"})
                                    .ToString());
}

// ggml computes each frequency from the one before. No standard recipe permits that.
TEST(SlowIdentify, FindsAnAttributeUnderAnotherRecipe) {
  const Identity found = Identified("rope D=128", {"base=500000"}, "native frequency=f32:iterated");
  EXPECT_EQ(found.c.ToString(), ProbesOf("rope D=128")[0].With("base=500000").ToString());
  EXPECT_EQ(found.recipe, "native frequency=f32:iterated");
}

// The words of a question may come from a configuration.
TEST(Identify, LeavesOutAnAttributeThatTheSubjectLacks) {
  const std::vector<std::string> unset = {"soft_cap="};
  const auto questions = ProbesOf("attention mask=causal soft_cap=50");
  const Identity found =
      Identify(questions, BlackBox(unset), {.recipes = {"native"}, .known = {}, .threads = 0});
  EXPECT_NE(found.recipe, "");
  EXPECT_EQ(found.c.ToString(), questions[0].With(unset).ToString());
}

// No answer is a mean of values: nothing says that no key is visible.
TEST(Identify, ClaimsNoMaskIfWeightsDoNotAddUpToOne) {
  const AskSubject box = BlackBox({});
  const auto smaller = [&](const Case& c, const Tensors& inputs) {
    Answer answer = box(c, inputs);
    for (double& x : answer.outputs[0].values.data) x = RoundTo(DType::kF32, 0.9 * x);
    return answer;
  };
  const auto questions = ProbesOf("attention");
  const Identity found =
      Identify(questions, smaller, {.recipes = {"native"}, .known = {}, .threads = 0});
  EXPECT_EQ(found.recipe, "");
  EXPECT_THAT(found.c.ToString(), testing::Not(testing::HasSubstr("key_length")));
}

TEST(Identify, NeedsAnAnswerWithAnElement) {
  const auto declines = [](const Case&, const Tensors&) {
    return Answer{Answer::Status::kUnsupported, "only D=128", {}};
  };
  EXPECT_THAT(
      [&] {
        Identify(ProbesOf("rope D=8"), declines, {{"native"}, {}, 0});
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("only D=128; if it answers some")));
  EXPECT_THAT([&] { Identified("rope S=0", {}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("has no element")));
}

}  // namespace
}  // namespace sextant::oracle

#include "oracle/identify/identify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "oracle/identify/probe.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

// A black box: computes what its words say, whatever it is asked.
AskSubject BlackBox(const std::vector<std::string>& words, const std::string& recipe = "native") {
  return [=](const Case& c, const Tensors& inputs) {
    const Case own = c.With(words);
    const Recipe by = ParseRecipe(recipe, c.dtype());
    return Answer{Answer::Status::kAnswered, "", EvaluateByRecipe(own.operation(), c, inputs, by)};
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
  EXPECT_EQ(found.recipe, "native");
  EXPECT_GT(found.judged, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    All, IdentifyBlackBox,
    testing::Values(BlackBoxCase{"rope D=16", {"pairing=interleaved", "base=12345"}},
                    BlackBoxCase{"rope D=16", {"pairing=half", "R=12", "offset=2", "base=1e+06"}},
                    BlackBoxCase{"rope D=32", {"scaling=linear(factor=3)", "direction=transpose"}},
                    BlackBoxCase{"rope D=32 dtype=bf16", {"pairing=interleaved", "base=500000"}},
                    BlackBoxCase{"rms_norm", {"eps=3e-06", "unit_offset=true"}},
                    BlackBoxCase{"layer_norm", {"eps=1e-06"}},
                    BlackBoxCase{"activation", {"kind=swish", "beta=1.25"}},
                    BlackBoxCase{"gated", {"kind=swiglu", "limit=5", "beta=1.5", "plus_one=true"}},
                    BlackBoxCase{"attention", {"window=[4,0]", "soft_cap=20"}},
                    BlackBoxCase{"attention", {"scale=0.3", "chunk=5"}},
                    BlackBoxCase{"xpos", {"role=key", "gamma=0.7", "scale_base=100"}}));

}  // namespace
}  // namespace sextant::oracle

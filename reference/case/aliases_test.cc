#include "reference/case/aliases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error_test.h"
#include "reference/case/case.h"
#include "reference/case/operations.h"
#include "reference/case/question.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Ours(const std::string& line) { return InOurWords(line).line; }

TEST(Aliases, AreWordsOfLines) {
  EXPECT_EQ(Ours("rope pairing=half theta=5e5 rotary_dim=64 head_dim=128 num_heads=8"),
            "rope pairing=half base=5e5 R=64 D=128 H=8");
  EXPECT_EQ(Ours("rope rope_theta=5 num_attention_heads=2"), "rope base=5 H=2");
  EXPECT_EQ(Ours("attention num_kv_heads=2 dtype=bfloat16 dtype.q=float8_e4m3fn"),
            "attention K=2 dtype=bf16 dtype.q=f8_e4m3fn");
  EXPECT_EQ(Ours("attention num_key_value_heads=2 dtype=float64"), "attention K=2 dtype=f64");
  EXPECT_EQ(Ours("rms_norm dtype=float32 dtype.weight=float16"),
            "rms_norm dtype=f32 dtype.weight=f16");
}

// W keys, of which the last is the query's own.
TEST(Aliases, SlidingWindowsCountTheOwnKey) {
  EXPECT_EQ(Ours("attention sliding_window=4096"), "attention window=[4095,0]");
  EXPECT_EQ(Ours("attention sliding_window=1"), "attention window=[0,0]");
  EXPECT_THAT(
      InOurWords("attention sliding_window=4").notes,
      ElementsAre(HasSubstr("sliding_window=4 is called window=[3,0] here (the query's own")));
  for (const char* text : {"0", "-1", "x"}) {
    EXPECT_THAT(MessageOf([&] { Ours(std::string("attention sliding_window=") + text); }),
                HasSubstr("expected a number of keys, 1 or more"));
  }
}

TEST(Aliases, KindsAreOperations) {
  EXPECT_EQ(Ours("silu N=2 F=3"), "activation kind=swish N=2 F=3");
  EXPECT_EQ(Ours("gelu_tanh N=2"), "activation kind=gelu_tanh N=2");
  EXPECT_EQ(Ours("swiglu N=2"), "gated kind=swiglu N=2");
  EXPECT_EQ(Ours("activation kind=silu"), "activation kind=swish");
  EXPECT_EQ(Ours("gated kind=silu"), "gated kind=silu");  // no kind of gated units
  EXPECT_THAT(InOurWords("silu N=1").notes,
              ElementsAre("silu is called activation kind=swish here"));
  EXPECT_THAT(InOurWords("gelu N=1").notes, ElementsAre(HasSubstr("by erf")));
}

TEST(Aliases, OurOwnWordsStay) {
  for (const char* line :
       {"rope pairing=half base=5 D=4", "activation kind=gelu  N=2", "", "nothing",
        "rms_norm theta=5", "linear with=bias", "rope @x=theta", "rope # theta=5"}) {
    EXPECT_EQ(Ours(line), line);
    EXPECT_THAT(InOurWords(line).notes, IsEmpty());
  }
}

// A word of ours that were an alias would change its meaning.
TEST(Aliases, AreNoWordsOfOperations) {
  for (const auto& operation : AllOperations()) {
    const std::string name(operation->info().name);
    EXPECT_EQ(Ours(name), name);
    for (const Attribute& attribute : operation->Attributes()) {
      std::vector<std::string> values(attribute.values.begin(), attribute.values.end());
      values.push_back("7");
      for (const std::string& value : values) {
        const std::string line = name + " " + attribute.name + "=" + value;
        EXPECT_EQ(Ours(line), line);
      }
    }
  }
}

TEST(Aliases, AreReadInCasesAndQuestions) {
  EXPECT_EQ(Case::Parse("silu N=2 F=3 dtype=bfloat16").ToString(),
            Case::Parse("activation kind=swish N=2 F=3 dtype=bf16").ToString());
  EXPECT_THAT(MessageOf([] { Case::Parse("rope pairing=half S=1 H=1 D=2 base=1 theta=2"); }),
              HasSubstr("rope: base= is given twice"));
  const float x[] = {0, 1};
  const Question question = ParseQuestion("silu", {{"x", {x, ElementType::kF32, {1, 2}, {2, 1}}}});
  EXPECT_THAT(question.Text(), HasSubstr("activation kind=swish beta=1 F=2"));
  EXPECT_THAT(question.notes, ElementsAre("silu is called activation kind=swish here"));
}

}  // namespace
}  // namespace sextant

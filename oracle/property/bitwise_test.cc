#include "oracle/property/bitwise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "oracle/judge/judge.h"
#include "oracle/subject/promises.h"
#include "oracle/subject/subject.h"
#include "reference/case/draw.h"
#include "reference/case/operations.h"
#include "reference/case/out_of_memory.h"

namespace sextant::oracle {
namespace {

using testing::HasSubstr;

// The questions around a case have rows of it: the rows of its answer conform to them.
TEST(BitwiseQuestions, HaveTheSameExactValues) {
  const Subject subject = RecipeSubject("f32_compute");
  std::map<std::string_view, size_t> questions;
  SplitMix64 random(1);
  for (const char* operation :
       {"attention", "rope_attention", "cross_attention", "rope", "rms_norm", "linear",
        "attention_scores", "relative_attention", "quantize"}) {
    for (const CaseLine& line :
         ReadCaseLines("fixtures/cases/" + std::string(operation) + ".cases")) {
      const Case c = Case::Parse(line.text);
      if (ElementsOf(c) > 1000) continue;
      const Tensors inputs = DrawInputs(c);
      const Tensors whole = subject.answer(c, inputs).outputs;
      for (const BitwiseQuestion& question : BitwiseQuestions(c, inputs, {}, random)) {
        const Recipe recipe = ParseRecipe("f32_compute", question.c.dtype());
        // Its own answer, in which the rows are those of the whole.
        Tensors outputs = subject.answer(question.c, question.inputs).outputs;
        for (size_t o = 0; o < outputs.size(); ++o) {
          const TensorSpec& spec = c.info().signature.outputs[o];
          InsertSlice(ExtractSlice(whole[o].values, spec, question.rows_of_whole), spec,
                      question.rows, outputs[o].values);
        }
        const Judge judge(question.c, question.inputs, recipe);
        EXPECT_NE(judge.Evaluate(outputs).status, Verdict::Status::kFails)
            << c.ToString() << "\n"
            << question.promise << " " << question.how;
        ++questions[question.promise];
      }
    }
  }
  for (const char* promise : {"batch", "batch_size", "keys", "decode"})
    EXPECT_GT(questions[promise], 10u) << promise;
}

TEST(BitwiseQuestions, AreThoseOfThePromises) {
  SplitMix64 random(1);
  const Case c = Case::Parse("attention mask=causal B=2 H=2 K=2 S=3 T=5 D=4");
  const Tensors inputs = DrawInputs(c);
  for (const BitwiseQuestion& question : BitwiseQuestions(c, inputs, {"decode"}, random))
    EXPECT_EQ(question.promise, "decode");
  EXPECT_EQ(BitwiseQuestions(c, inputs, {"decode"}, random).size(), 3u);  // queries
  const Case open = Case::Parse("attention B=1 H=1 K=1 S=3 T=5 D=4");
  EXPECT_TRUE(BitwiseQuestions(open, DrawInputs(open), {"decode", "keys"}, random).empty());
}

TEST(BitDifference, NamesTheFirstElementOfTheRowsInTheWhole) {
  const Case c = Case::Parse("softmax N=3 M=2 dtype=bf16");
  const auto answer = [](std::vector<double> values) {
    const size_t rows = values.size() / 2;
    return Tensors{{"y", DType::kBF16, Tensor<double>({rows, 2}, std::move(values))}};
  };
  const Slice second{{{"N", {1, 1}}}};
  const Tensors whole = answer({9, 9, 1, 0, 9, 9});
  EXPECT_EQ(BitDifference(c, DrawInputs(c), whole, second, answer({1, 0}), {}), "");
  EXPECT_EQ(BitDifference(c, DrawInputs(c), whole, second, answer({1, -0.0}), {}),
            "y[1,1]: 0x0 (0) and 0x8000 (-0); 1 of 2 elements of these rows differ");
  EXPECT_EQ(BitDifference(c, DrawInputs(c), whole, second, answer({1.0078125, 1}), {}),
            "y[1,0]: 0x3f80 (1) and 0x3f81 (1.0078125); 2 of 2 elements of these rows differ");
}

TEST(RequirePromises, NamesThoseThatExist) {
  EXPECT_THAT(
      [] {
        RequirePromises({"run", "rows"});
      },
      testing::ThrowsMessage<Error>(HasSubstr("'rows' is no promise of equal bits, "
                                              "expected: run batch batch_size keys decode "
                                              "threads")));
}

}  // namespace
}  // namespace sextant::oracle

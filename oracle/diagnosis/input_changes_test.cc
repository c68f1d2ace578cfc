#include "oracle/diagnosis/input_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracle/catalog/causes_test.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

// The causes of the right answer to a question in which one input is changed.
template <class Change>
std::vector<std::string> CausesWith(const std::string& line, const std::string& input,
                                    Change change) {
  const AskedCase question(line);
  Tensors changed = question.inputs;
  change(InputNamed(changed, input).data);
  return question.Causes(EvaluateByRecipe(question.c, changed, question.recipe));
}

const std::string kRelative = "relative_attention clip=3 H=2 S=6 T=9 D=8 dtype=";

TEST(InputChanges, NamesATableInReverseOrder) {
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(
        CausesWith(kRelative + dtype, "value_table",
                   [](auto& table) {
                     for (size_t row = 0; row < 3; ++row)
                       std::swap_ranges(&table[row * 8], &table[row * 8 + 8],
                                        &table[(6 - row) * 8]);
                   }),
        Contains("value_table_changed (value_table has its rows in reverse order, along 2*clip+1)"))
        << dtype;
  }
}

TEST(InputChanges, NamesAMissingTable) {
  EXPECT_THAT(
      CausesWith(kRelative + "f32", "key_table", [](auto& table) { std::ranges::fill(table, 0); }),
      Contains(HasSubstr("key_table")));
}

TEST(InputChanges, NamesTheBiasOfTheNextKey) {
  EXPECT_THAT(CausesWith("attention_bias H=2 K=1 S=5 T=7 D=8 E=8 dtype=f32", "bias",
                         [](auto& bias) {
                           for (size_t row = 0; row < 10; ++row)
                             std::rotate(&bias[row * 7], &bias[row * 7 + 1], &bias[row * 7 + 7]);
                         }),
              Contains(StartsWith("bias_changed (bias has the next key at each T")));
}

TEST(InputChanges, AccusesNoHonestRecipe) {
  for (const char* line : {"relative_attention clip=3 H=2 S=6 T=9 D=8 dtype=f32",
                           "attention_merge N=16 E=8 dtype=f32"}) {
    for (const char* recipe : {"native softmax=bf16", "native dot=f16", "native weigh=bf16"}) {
      const AskedCase question(line);
      const Tensors answer =
          EvaluateByRecipe(question.c, question.inputs, ParseRecipe(recipe, question.c.dtype()));
      for (const std::string& cause : question.Causes(answer))
        EXPECT_THAT(cause, HasSubstr("_in_")) << recipe;  // a listed precision
    }
  }
}

}  // namespace
}  // namespace sextant::oracle

#include "oracle/diagnosis/input/input_changes.h"

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
  return question.Causes(EvaluateByRecipe({question.c, changed, question.recipe}));
}

const std::string kRelative = "relative_attention clip=3 H=2 S=6 T=9 D=8 dtype=";

TEST(InputChanges, NamesATableInReverseOrder) {
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(CausesWith(kRelative + dtype, "value_table",
                           [](auto& table) {
                             for (size_t row = 0; row < 3; ++row)
                               std::swap_ranges(&table[row * 8], &table[row * 8 + 8],
                                                &table[(6 - row) * 8]);
                           }),
                Contains("value_table_changed (value_table has its rows in another order, along "
                         "2*clip+1: reversed)"))
        << dtype;
  }
}

TEST(InputChanges, NamesAMissingTable) {
  EXPECT_THAT(
      CausesWith(kRelative + "f32", "key_table", [](auto& table) { std::ranges::fill(table, 0); }),
      Contains(HasSubstr("key_table")));
}

TEST(InputChanges, NamesTheBiasOfTheNextKey) {
  EXPECT_THAT(
      CausesWith("attention with=bias H=2 K=1 S=5 T=7 D=8 E=8 dtype=f32", "bias",
                 [](auto& bias) {
                   for (size_t row = 0; row < 10; ++row)
                     std::rotate(&bias[row * 7], &bias[row * 7 + 1], &bias[row * 7 + 7]);
                 }),
      Contains(StartsWith(
          "bias_changed (bias has its keys in another order, along T: rolled by 1 to the left")));
}

TEST(InputChanges, NamesPartsThatAreLostAndMultiplied) {
  const std::string line = "attention with=bias H=2 K=1 S=5 T=7 D=8 E=8 dtype=";
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(CausesWith(line + dtype, "bias",
                           [](auto& bias) {
                             for (size_t i = 0; i < bias.size(); ++i)
                               if (i % 7 >= 4) bias[i] = 0;
                           }),
                Contains("bias_changed (bias is 0 from key 4 on, along T)"));
    EXPECT_THAT(CausesWith("linear N=12 M=20 F=6 dtype=" + std::string(dtype), "x",
                           [](auto& x) {
                             for (size_t i = 0; i < x.size(); ++i)
                               if (i % 20 == 7) x[i] = x[i - 1];
                           }),
                Contains("x_changed (x has column 6 in place of column 7, along M)"));
  }
}

TEST(InputChanges, NamesOrdersOfTheMemory) {
  EXPECT_THAT(
      CausesWith("linear N=12 M=20 F=6 dtype=f32", "x",
                 [](auto& x) {
                   const auto right = x;
                   for (size_t i = 0; i < x.size(); ++i) x[i] = right[i / 20 * 16 + i % 20];
                 }),
      Contains("x_changed (x is read as if its rows began 16 elements apart, expected 20)"));
}

TEST(InputChanges, NamesFormatsAndLimits) {
  const std::string line = "softmax N=12 M=20 dtype=f32";
  EXPECT_THAT(CausesWith(line, "x",
                         [](auto& x) {
                           for (double& one : x) one = RoundTo(DType::kBF16, one);
                         }),
              Contains("x_in_bf16 (x is rounded to bf16)"));
  EXPECT_THAT(CausesWith("linear N=12 M=20 F=6 dtype=f32", "x",
                         [](auto& x) {
                           for (double& one : x) one = std::clamp(one, -1.0, 1.0);
                         }),
              Contains("x_limited (x is limited to 1 and -1)"));
}

template <class Of>
void RoundRow(std::vector<double>& x, size_t width, Of of) {
  for (size_t first = 0; first < x.size(); first += width) {
    double largest = 0;
    for (size_t i = first; i < first + width; ++i) largest = std::max(largest, std::abs(x[i]));
    for (size_t i = first; i < first + width; ++i) x[i] = of(x[i], largest);
  }
}

TEST(InputChanges, NamesQuantizedInputs) {
  const auto in_8_bits = [](double x, double largest) {
    return std::nearbyint(x * 127 / largest) * largest / 127;
  };
  EXPECT_THAT(
      CausesWith("linear N=12 M=64 F=6 dtype=f32", "x",
                 [&](auto& x) { RoundRow(x, 64, in_8_bits); }),
      Contains("x_changed (x is quantized to 127 levels on both sides of 0, up to the largest |.| "
               "of each row)"));
  EXPECT_THAT(
      CausesWith("linear N=12 M=64 F=6 dtype=f32", "weight",
                 [&](auto& x) { RoundRow(x, 32, in_8_bits); }),
      Contains("weight_changed (weight is quantized to 127 levels on both sides of 0, up to the "
               "largest |.| of each 32 elements of a row)"));
}

TEST(InputChanges, NamesFewerBits) {
  const auto cut = [](double x) {
    return std::trunc(x / std::ldexp(1, std::ilogb(x) - 7)) * std::ldexp(1, std::ilogb(x) - 7);
  };
  EXPECT_THAT(CausesWith("linear N=12 M=20 F=6 dtype=f32", "x",
                         [&](auto& x) {
                           for (double& one : x) one = cut(one);
                         }),
              Contains("x_changed (x is cut to 8 significant bits, as bf16 toward zero)"));
}

TEST(InputChanges, NamesInputsThatAreRoundedInTheSameWay) {
  const AskedCase question("layer_norm N=12 M=20 dtype=f32");
  Tensors changed = question.inputs;
  for (NamedTensor& input : changed)
    for (double& x : input.values.data)
      if (x != 0)
        x = std::nearbyint(std::ldexp(x, 10 - std::ilogb(x))) / std::ldexp(1, 10 - std::ilogb(x));
  EXPECT_THAT(question.Causes(EvaluateByRecipe({question.c, changed, question.recipe})),
              Contains("inputs_in_f16 (all inputs are rounded to f16)"));
}

TEST(InputChanges, NamesAnOperationThatIsAppliedTwice) {
  for (const char* line : {"softmax N=12 M=20 dtype=", "rms_norm N=12 M=20 dtype="}) {
    for (const char* dtype : {"f32", "bf16"}) {
      const AskedCase question(std::string(line) + dtype);
      Tensors changed = question.inputs;
      changed[0].values = EvaluateByRecipe(question)[0].values;
      EXPECT_THAT(question.Causes(EvaluateByRecipe({question.c, changed, question.recipe})),
                  Contains("applied_twice (the operation is applied twice: to x, and to y)"))
          << line << dtype;
    }
  }
}

TEST(InputChanges, NamesCachesInAnotherLayout) {
  const AskedCase question("attention H=4 K=2 S=5 T=6 D=8 E=12 dtype=f32");
  Tensors changed = question.inputs;
  for (const char* input : {"k", "v"}) {
    const Tensor<double> stored = InputNamed(changed, input);  // read as if it were [B,T,K,.]
    const size_t width = stored.shape[3];
    for (size_t i = 0; i < stored.data.size(); ++i) {
      const size_t t = i / width % 6, k = i / width / 6;
      InputNamed(changed, input).data[i] = stored.data[(t * 2 + k) * width + i % width];
    }
  }
  EXPECT_THAT(question.Causes(EvaluateByRecipe({question.c, changed, question.recipe})),
              Contains("caches_changed (k is read as if it were stored as [B,T,K,D], and v in the "
                       "same way)"));
}

TEST(InputChanges, NamesTransposedMatricesOfAnInput) {
  EXPECT_THAT(CausesWith("attention H=4 K=2 S=5 T=6 D=8 E=12 dtype=f32", "v",
                         [](auto& v) {
                           const auto stored = v;  // [B,K,E,T]
                           for (size_t i = 0; i < v.size(); ++i)
                             v[i] = stored[i / 72 * 72 + i % 12 * 6 + i / 12 % 6];
                         }),
              Contains("v_changed (v is read as if it were stored as [B,K,E,T])"));
}

TEST(InputChanges, NamesTokensOfTransposedSequences) {
  EXPECT_THAT(
      CausesWith("embedding V=40 M=8 S=24 dtype=f32", "token",
                 [](auto& token) {
                   const auto right = token;
                   for (size_t i = 0; i < 24; ++i) token[i] = right[i % 6 * 4 + i / 6];
                 }),
      Contains(HasSubstr("token has its tokens in another order, along S: [6,4] transposed")));
}

TEST(InputChanges, AccusesNoHonestRecipe) {
  for (const char* line : {"relative_attention clip=3 H=2 S=6 T=9 D=8 dtype=f32",
                           "attention_merge N=16 E=8 dtype=f32"}) {
    for (const char* recipe : {"native softmax=bf16", "native dot=f16", "native weigh=bf16"}) {
      const AskedCase question(line);
      const Tensors answer =
          EvaluateByRecipe({question.c, question.inputs, ParseRecipe(recipe, question.c.dtype())});
      for (const std::string& cause : question.Causes(answer))
        EXPECT_THAT(cause, HasSubstr("_in_")) << recipe;  // a listed precision
    }
  }
}

TEST(InputChanges, NamesRowsThatAreNormed) {
  EXPECT_THAT(CausesWith("linear N=6 M=16 F=9 dtype=f32", "x",
                         [](auto& x) {
                           for (size_t row = 0; row < 6; ++row) {
                             double squares = 0;
                             for (size_t m = 0; m < 16; ++m)
                               squares += x[row * 16 + m] * x[row * 16 + m];
                             for (size_t m = 0; m < 16; ++m) x[row * 16 + m] /= std::sqrt(squares);
                           }
                         }),
              Contains(StartsWith("x_changed (x has rows divided by their length")));
}

}  // namespace
}  // namespace sextant::oracle

#include "oracle/attention/heads_properties.h"

#include <algorithm>

#include "oracle/attention/token_properties.h"

namespace sextant::oracle {
namespace {

// Reversing the order of query heads and key heads, with their columns of wo, changes nothing.
Comparisons CheckHeadsOrder(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t D = ExtentOf(c, "D"), M = ExtentOf(c, "M");
  if (D == 0 || M == 0) return {};
  Tensors reversed = inputs;
  for (const char* weight : {"wq", "wk", "wv"})
    ReverseBlocks(InputNamed(reversed, weight), 1, D * M);
  for (const char* bias : {"bq", "bk", "bv"}) ReverseBlocks(InputNamed(reversed, bias), 1, D);
  ReverseBlocks(InputNamed(reversed, "wo"), M, D);
  return SameAnswer(c, inputs, reversed, ask);
}

Comparisons CheckValueScale(const Case& c, const Tensors& inputs, const Ask& ask) {
  return SameAnswer(c, Multiplied(inputs, {"wv", "bv"}, 2), Multiplied(inputs, {"wo"}, 2), ask);
}

Comparisons CheckKeyScale(const Case& c, const Tensors& inputs, const Ask& ask) {
  return SameAnswer(c, Multiplied(inputs, {"wq", "bq"}, 2), Multiplied(inputs, {"wk", "bk"}, 2),
                    ask);
}

Comparisons CheckKeyBias(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (!TextOf(c, "soft_cap").empty()) return {};
  return SameAnswer(c, inputs, Filled(inputs, {"bk"}, 0), ask);
}

// With wv = 0 every value is bv, so the result does not depend on the weights.
Comparisons CheckEqualValues(const Case& c, const Tensors& inputs, const Ask& ask,
                             size_t attended) {
  Tensors plain = Filled(inputs, {"wv"}, 0);
  const Response answer = ask(c, plain);
  Comparisons comparisons;
  const bool memory = c.dimensions().contains("T");  // keys come from another sequence than queries
  if (!answer.Has(attended) || TokensRead(c, memory ? "T" : "S") == 0) return comparisons;
  const size_t M = ExtentOf(c, "M"), D = ExtentOf(c, "D"), H = ExtentOf(c, "H"),
               share = H / std::max<size_t>(1, ExtentOf(c, "K"));
  const auto &wo = InputNamed(plain, "wo").data, &bv = InputNamed(plain, "bv").data,
             &bo = InputNamed(plain, "bo").data;
  for (size_t i = 0; i < answer.outputs[attended].values.data.size(); ++i) {
    Measured sum = bo[i % M];
    for (size_t j = 0; j < H * D; ++j) {
      sum = sum + Measured(wo[i % M * H * D + j]) * bv[j / D / share * D + j % D];
    }
    comparisons.Equal(answer(attended, i), sum, {answer, attended, i});
  }
  return comparisons;
}

}  // namespace

void ReverseRows(Tensor<double>& tensor, size_t count) {
  const size_t width = tensor.shape[1];
  for (size_t row = 0; row < count / 2; ++row) {
    const auto at = [&](size_t r) {
      return tensor.data.begin() + static_cast<ptrdiff_t>(r * width);
    };
    std::swap_ranges(at(row), at(row + 1), at(count - 1 - row));
  }
}

std::vector<Property> HeadsProperties(size_t attended) {
  return {
      {"heads_in_any_order",
       "reversing the order of the heads, with their columns of wo, changes nothing",
       CheckHeadsOrder},
      {"values_against_output", "doubling wv and bv equals doubling wo", CheckValueScale},
      {"queries_against_keys", "doubling wq and bq equals doubling wk and bk", CheckKeyScale},
      {"key_bias_cancels",
       "bk adds a constant to all scores of a query, which changes nothing unless there is a soft "
       "cap",
       CheckKeyBias},
      {"equal_values", "with wv = 0 the attention output is wo bv + bo for all scores",
       [attended](const Case& c, const Tensors& inputs, const Ask& ask) {
         return CheckEqualValues(c, inputs, ask, attended);
       }},
  };
}

}  // namespace sextant::oracle

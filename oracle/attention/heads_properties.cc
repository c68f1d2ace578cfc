#include "oracle/attention/heads_properties.h"

#include <algorithm>

#include "oracle/attention/token_properties.h"

namespace sextant::oracle {
namespace {

// Query heads and key heads in reverse order, with their columns of wo.
Findings CheckOrder(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t D = ExtentOf(c, "D"), M = ExtentOf(c, "M");
  if (D == 0 || M == 0) return {};
  Tensors turned = inputs;
  for (const char* weight : {"wq", "wk", "wv"}) ReverseBlocks(In(turned, weight), 1, D * M);
  for (const char* bias : {"bq", "bk", "bv"}) ReverseBlocks(In(turned, bias), 1, D);
  ReverseBlocks(In(turned, "wo"), M, D);
  return SameAnswer(c, inputs, turned, ask);
}

Findings CheckValueScale(const Case& c, const Tensors& inputs, const Ask& ask) {
  return SameAnswer(c, Multiplied(inputs, {"wv", "bv"}, 2), Multiplied(inputs, {"wo"}, 2), ask);
}

Findings CheckKeyScale(const Case& c, const Tensors& inputs, const Ask& ask) {
  return SameAnswer(c, Multiplied(inputs, {"wq", "bq"}, 2), Multiplied(inputs, {"wk", "bk"}, 2),
                    ask);
}

Findings CheckKeyBias(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (!TextOf(c, "soft_cap").empty()) return {};
  return SameAnswer(c, inputs, Filled(inputs, {"bk"}, 0), ask);
}

// Where wv is 0 every value is its bias, whatever weighs it.
Findings CheckEqualValues(const Case& c, const Tensors& inputs, const Ask& ask, size_t attended) {
  Tensors plain = Filled(inputs, {"wv"}, 0);
  const Response answer = ask(c, plain);
  Findings findings;
  const bool memory = c.dimensions().contains("T");  // keys are not those of the queries' sequence
  if (!answer.Has(attended) || TokensRead(c, memory ? "T" : "S") == 0) return findings;
  const size_t M = ExtentOf(c, "M"), D = ExtentOf(c, "D"), H = ExtentOf(c, "H"),
               share = H / std::max<size_t>(1, ExtentOf(c, "K"));
  const auto &wo = In(plain, "wo").data, &bv = In(plain, "bv").data, &bo = In(plain, "bo").data;
  for (size_t i = 0; i < answer.outputs[attended].values.data.size(); ++i) {
    Measured sum = bo[i % M];
    for (size_t j = 0; j < H * D; ++j) {
      sum = sum + Measured(wo[i % M * H * D + j]) * bv[j / D / share * D + j % D];
    }
    findings.Equal(answer(attended, i), sum, {answer, attended, i});
  }
  return findings;
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
      {"heads_in_any_order", "heads in reverse order, with their columns of wo, change nothing",
       CheckOrder},
      {"values_against_output", "twice wv and bv are twice wo", CheckValueScale},
      {"queries_against_keys", "twice wq and bq are twice wk and bk", CheckKeyScale},
      {"key_bias_cancels",
       "bk adds the same to all scores of a query, which no softmax sees (a cap does)",
       CheckKeyBias},
      {"equal_values", "where wv is 0 attention is wo bv + bo, whatever the scores",
       [attended](const Case& c, const Tensors& inputs, const Ask& ask) {
         return CheckEqualValues(c, inputs, ask, attended);
       }},
  };
}

}  // namespace sextant::oracle

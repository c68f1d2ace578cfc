#include "oracle/position/scale_properties.h"

#include <algorithm>

#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {

Response AskFactors(const Case& c, Tensors inputs, const Ask& ask,
                    const std::function<double(double)>& change) {
  std::ranges::fill(inputs[0].values.data, 1);
  for (double& p : inputs[1].values.data) p = change(p);
  return ask(c, inputs);
}

namespace {

Comparisons CheckLinear(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  ExpectProportional(ask(c, Multiplied(inputs, {"q"}, -2)), -2, ask(c, inputs), comparisons);
  return comparisons;
}

Comparisons CheckAlike(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t S = ExtentOf(c, "S"), D = ExtentOf(c, "D");
  const Response y = AskFactors(c, inputs, ask, [](double p) { return p; });
  return EachEqual(y, [&](size_t i) {
    const size_t first = i / D % S * D;  // of the same token in the first head
    return y(0, first);
  });
}

Defect OfAnotherToken(std::string name, std::string why, size_t (*token)(size_t s, size_t S)) {
  return ChangedInputs(std::move(name), std::move(why), [token](const Case&, Tensors& inputs) {
    std::vector<double>& position = inputs[1].values.data;
    const std::vector<double> before = position;
    for (size_t s = 0; s < position.size(); ++s) position[s] = before[token(s, before.size())];
    return position != before;
  });
}

}  // namespace

std::vector<Property> PropertiesOfFactors() {
  return {{"linear_in_q", "-2 q gives -2 y", CheckLinear},
          {"channels_alike", "all heads and channels of a token have the same factor", CheckAlike}};
}

std::vector<Defect> FactorDefects() {
  return {
      OfAnotherToken(
          "factor_of_last_token",
          "every token has the factor of the last one: the length is used as its position",
          [](size_t, size_t S) { return S - 1; }),
      OfAnotherToken("factor_of_first_token", "every token has the factor of the first one",
                     [](size_t, size_t) { return size_t{0}; }),
      ChangedRecipe("factor_in_bf16", "the factor is computed in bf16", "factor=bf16"),
      ChangedRecipe("factor_in_f16", "the factor is computed in f16", "factor=f16"),
      ChangedRecipe("factor_kept_in_bf16", "the factor is stored in bf16 for every dtype",
                    "table=bf16"),
      ChangedRecipe("factor_kept_in_f16", "the factor is stored in f16 for every dtype",
                    "table=f16"),
      ChangedRecipe("factor_in_f32", "the factor is computed in f32 where f64 is required",
                    "factor=f32"),
      ChangedRecipe("scaled_in_bf16", "the product is computed in bf16 for every dtype",
                    "weigh=bf16"),
  };
}

}  // namespace sextant::oracle

// Attention with linear biases (ALiBi): the bias added to the scores.
#pragma once

#include <array>
#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

enum class AlibiForm { kDistance, kKey, kSymmetric };
constexpr std::array<std::string_view, 3> NamesOf(AlibiForm) {
  return {"distance", "key", "symmetric"};
}

struct Alibi {
  static constexpr std::string_view kName = "alibi";
  static constexpr std::string_view kSignature =
      "slope:wide[H] query_position:i64[S] key_position:i64[T] -> bias[H,S,T]";
  static constexpr std::string_view kSlices = "HST";
  static constexpr std::string_view kSteps = "distance bias";
  static constexpr std::string_view kDraw =
      "slope=geometric query_position=sequence key_position=sequence";
  static constexpr std::string_view kChoices =
      "form=distance|key|symmetric H=2|1|5|12 S=3|1|7 T=5|1|9";
  static constexpr std::string_view kFormula =
      "distance:   bias[h,s,t] = -slope[h] (query_position[s] - key_position[t])\n"
      "key:        bias[h,s,t] = slope[h] key_position[t]; the difference to `distance` is a\n"
      "            constant per row, which does not change a softmax over the keys\n"
      "symmetric:  bias[h,s,t] = -slope[h] |query_position[s] - key_position[t]|\n"
      "  slope                         [H]      bias per token (alibi_slopes)\n"
      "  query_position, key_position  [S] [T]  tokens; integers\n"
      "  bias                          [H,S,T]  added to the scaled scores";
  static constexpr std::string_view kSource =
      "Press, Smith and Lewis 2021, arXiv:2108.12409, section 3; key: Hugging Face "
      "models/bloom/modeling_bloom.py build_alibi_tensor; symmetric: "
      "ofirpress/attention_with_linear_biases issue 5";

  AlibiForm form = AlibiForm::kDistance;
  void Visit(auto&& v) { v("form", form); }
  template <class Real>
  void operator()(const Tensor<Real>& slope, const Tensor<double>& query_position,
                  const Tensor<double>& key_position, Tensor<Real>& bias) const;
};

}  // namespace sextant

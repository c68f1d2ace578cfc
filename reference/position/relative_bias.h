// T5's relative position bias: one learned number per head and distance bucket.
#pragma once

#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

struct RelativeBias {
  static constexpr std::string_view kName = "relative_bias";
  static constexpr std::string_view kSignature =
      "table[P,H] query_position:i64[S] key_position:i64[T] -> bias[H,S,T]";
  static constexpr std::string_view kSlices = "HST";
  static constexpr std::string_view kSteps = "";
  static constexpr std::string_view kDraw =
      "table=normal query_position=sequence key_position=sequence";
  static constexpr std::string_view kChoices =
      "bidirectional=true|false max_distance=128|20|1000 P=32|4|8|33 H=2|1|5 S=3|1|7 T=5|1|9";
  static constexpr std::string_view kFormula =
      "bias[h,s,t] = table[r,h], r = bucket of key_position[t] - query_position[s]\n"
      "  bidirectional: n = P/2; distance d = |key - query|; r = bucket + n where key > query\n"
      "  else:          n = P;   distance d = max(query - key, 0)\n"
      "  bucket = d where d < x = n/2, else\n"
      "           min(n - 1, x + floor(ln(d/x) / ln(max_distance/x) (n - x)));\n"
      "           the floor is exact: computed with integer powers, without a rounded logarithm\n"
      "  table                         [P,H]    one row per bucket\n"
      "  query_position, key_position  [S] [T]  tokens; integers\n"
      "  bias                          [H,S,T]  added to the scores; T5 does not scale them";
  static constexpr std::string_view kSource =
      "Raffel et al. 2019, arXiv:1910.10683, section 2.1; mesh_tensorflow "
      "transformer/transformer_layers.py _relative_position_bucket";

  bool bidirectional = true;
  int64_t max_distance = 128;
  Dimension P;
  void Visit(auto&& v) {
    v("bidirectional", bidirectional, kRequired);
    v("max_distance", max_distance);
    v("P", P);
  }
  void Check() const;
  template <class Real>
  void operator()(const Tensor<Real>& table, const Tensor<double>& query_position,
                  const Tensor<double>& key_position, Tensor<Real>& bias) const;
};

}  // namespace sextant

// Self-attention with relative position representations (Shaw et al.).
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

struct RelativeAttention {
  static constexpr std::string_view kName = "relative_attention";
  static constexpr std::string_view kSignature =
      "q[B,H,S,D] k[B,H,T,D] v[B,H,T,D] key_table[2*clip+1,D] value_table[2*clip+1,D] "
      "query_position:i64[S] key_position:i64[T] -> y[B,H,S,D] scores?[B,H,S,T]";
  static constexpr std::string_view kSlices = "BHS";
  static constexpr std::string_view kSteps = "dot score scale softmax weigh";
  static constexpr std::string_view kDraw =
      "q=normal k=normal v=normal key_table=normal value_table=normal query_position=sequence "
      "key_position=sequence";
  static constexpr std::string_view kChoices =
      "clip=2|0|1|16 scale=|0.5|1 B=1|2 H=2|1|3 S=3|1|5 T=5|1|7 D=4|1|6|8|64";
  static constexpr std::string_view kFormula =
      "scores[s,t] = q[s] . (k[t] + key_table[r]) scale\n"
      "y[s] = sum_t w[t] (v[t] + value_table[r]),  w = softmax of scores[s] over all keys\n"
      "  r = min(max(key_position[t] - query_position[s], -clip), clip) + clip, for every b and h\n"
      "  q                             [B,H,S,D]\n"
      "  k, v                          [B,H,T,D]\n"
      "  key_table, value_table        [2*clip+1,D]  row 0: key >= clip tokens before the query\n"
      "  query_position, key_position  [S] [T]       tokens; integers\n"
      "  y                             [B,H,S,D]     unspecified where T = 0\n"
      "  scores                        [B,H,S,T]     before the softmax\n"
      "  scale                                       unset: D^-1/2\n"
      "Both products have two parts, as in section 3.3: q.k + q.a and sum w v + sum w a.";
  static constexpr std::string_view kSource =
      "Shaw, Uszkoreit and Vaswani 2018, arXiv:1803.02155, eq. 3 and 4, section 3.2";

  int64_t clip = 0;
  std::optional<double> scale;
  void Visit(auto&& v) {
    v("clip", clip, kRequired);
    v("scale", scale);
  }
  void Check() const;
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>& key_table, const Tensor<Real>& value_table,
                  const Tensor<double>& query_position, const Tensor<double>& key_position,
                  Tensor<Real>& y, Tensor<Real>& scores) const;

  // The row of both tables for a key at j and a query at i.
  static int64_t RowOf(int64_t i, int64_t j, int64_t clip) {
    return std::clamp(j - i, -clip, clip) + clip;
  }
};

}  // namespace sextant

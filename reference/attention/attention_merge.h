// Merges the results of attention over two sets of keys: the combination step of flash, ring and
// split-key attention.
#pragma once

#include <string_view>

#include "reference/attention/attention_mask.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

struct AttentionMerge {
  static constexpr std::string_view kName = "attention_merge";
  static constexpr std::string_view kSignature =
      "y1[N,E] lse1:wide[N] y2[N,E] lse2:wide[N] -> y[N,E] lse:wide[N]";
  static constexpr std::string_view kSlices = "N";
  static constexpr std::string_view kSteps = "softmax weigh dot";
  static constexpr std::string_view kDraw = "y1=normal lse1=normal y2=normal lse2=normal";
  static constexpr std::string_view kChoices = "empty_rows=unspecified|zero N=3|1|5 E=4|1|6|16|33";
  static constexpr std::string_view kFormula =
      R"(lse = ln(e^lse1 + e^lse2)
y   = e^(lse1 - lse) y1 + e^(lse2 - lse) y2
  y1, lse1  [N,E] [N]  attention over a first set of keys; where lse1 is -infinity, the set is
                       empty and y1 is not read
  y2, lse2  [N,E] [N]  attention over a second set of keys, in the same way
  y, lse    [N,E] [N]  attention over both sets; where both are empty: unspecified, or 0 and
                       -infinity if empty_rows=zero
lse is the natural logarithm.)";
  static constexpr std::string_view kSource =
      "Milakov and Gimelshein 2018, arXiv:1805.02867, section 3.1; Dao et al. 2022, "
      "arXiv:2205.14135, section 3.1";

  EmptyRows empty_rows = EmptyRows::kUnspecified;
  void Visit(auto&& v) { v("empty_rows", empty_rows); }
  template <class Real>
  void operator()(const Tensor<Real>& y1, const Tensor<Real>& lse1, const Tensor<Real>& y2,
                  const Tensor<Real>& lse2, Tensor<Real>& y, Tensor<Real>& lse) const;
};

}  // namespace sextant

// The permutation of projection weights between the two pairings.
#pragma once

#include <string_view>

#include "reference/number/tensor/tensor.h"
#include "reference/rope/scaling.h"

namespace sextant {

struct RopeRelayout {
  static constexpr std::string_view kName = "rope_relayout";
  static constexpr std::string_view kSignature = "weight[H*D,M] -> y[H*D,M]";
  static constexpr std::string_view kSlices = "M";
  static constexpr std::string_view kSteps = "";
  static constexpr std::string_view kDraw = "weight=normal";
  static constexpr std::string_view kChoices =
      "from=interleaved|half to=half|interleaved offset=0|1|2 H=3|1 D=6|4|16|34 R=4|6|2|16 M=5|1|8";
  static constexpr std::string_view kFormula =
      "per head, row a of pair k in the layout `from` becomes row b of pair k in the layout `to`:\n"
      "  y[h D + b, .] = weight[h D + a, .]; rows outside offset .. offset+R are unchanged\n"
      "  weight, y  [H*D,M]  rows are output channels, head by head; exact";
  static constexpr std::string_view kSource =
      "the permutation of Hugging Face's convert_llama_weights_to_hf.py";

  Pairing from{}, to{};
  int64_t offset = 0;
  Dimension H, D, R;
  void Visit(auto&& v) {
    v("from", from, kRequired);
    v("to", to, kRequired);
    v("offset", offset);
    v("H", H);
    v("D", D);
    v("R", R);
  }
  void Check() const;
  template <class Real>
  void operator()(const Tensor<Real>& weight, Tensor<Real>& y) const;
};

}  // namespace sextant

// Temperature scaling of queries, by a factor that grows in steps with the position: the NoPE
// layers of Llama 4, and Ministral 3.
#pragma once

#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

struct TemperatureScale {
  static constexpr std::string_view kName = "temperature_scale";
  static constexpr std::string_view kSignature = "q[B,H,S,D] position:i64[S] -> y[B,H,S,D]";
  static constexpr std::string_view kSlices = "SHB";
  static constexpr std::string_view kSteps = "factor table weigh";
  static constexpr std::string_view kDraw = "q=normal position=random_positions(131072)";
  static constexpr std::string_view kChoices =
      "beta=0.1|0.5|0.25 floor_scale=8192|16|1000 start=1|0 B=1|2 H=1|3 S=1|5 D=4|7|16|34";
  static constexpr std::string_view kFormula =
      "y = q (1 + beta ln(1 + floor((position[s] + start) / floor_scale)))\n"
      "  q, y         [B,H,S,D]  same unit\n"
      "  position     [S]        tokens, counted from 0; unspecified where position + start < 0\n"
      "  floor_scale             tokens; the floor is exact in integers, for every recipe\n"
      "  start                   1: Llama 4; 0: Ministral 3";
  static constexpr std::string_view kSource =
      "huggingface/transformers, modeling_llama4.py (attn_scales) and modeling_ministral3.py "
      "(get_llama_4_attn_scale)";

  double beta = 0.1;
  int64_t floor_scale = 8192, start = 1;
  void Visit(auto&& v) {
    v("beta", beta);
    v("floor_scale", floor_scale);
    v("start", start);
  }
  void Check() const;

  // floor((position + start) / floor_scale).
  int64_t Steps(double position) const;

  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<double>& position, Tensor<Real>& y) const;
};

}  // namespace sextant

// Rotary position embedding, answered as codes.
#pragma once

#include <string_view>

#include "reference/base/joined_text.h"
#include "reference/layer/quantize.h"
#include "reference/rope/rope.h"

namespace sextant {

struct RopeQuantize : Rope, Quantize {
  static constexpr std::string_view kName = "rope_quantize";
  static constexpr std::string_view kSignature =
      "x[B,H,S,D] position:i64[B,S] tensor_scale:wide?[1] -> scale:scale[B,H,S] "
      "codes:code[B,H,S,D]";
  static constexpr std::string_view kSlices = "SHB";
  static constexpr std::string_view kSteps =
      "exponent frequency angle trig table rotate keep quantize";
  static constexpr std::string_view kDraw = "x=normal position=sequence tensor_scale=near_one";
  static constexpr std::string_view kChoices =
      "with=|tensor_scale pairing=half|interleaved base=10000|500000 "
      "scaling=none|linear(factor=8)|linear(factor=2.5)|"
      "dynamic(factor=10,max_position_embeddings=2048) seq_len=|4096 offset=0|1 "
      "direction=forward|transpose codes_limit=|4 least=0|0.0001 scale_rule=quotient|up|one "
      "dtype.codes=f8_e4m3fn|f4_e2m1|i8 dtype.scale=f32|f8_e4m3fn|e8m0 "
      "B=1|2 H=1|3 S=1|5 D=4|6|16|34|64 R=4|2|16|64";
  static constexpr auto kFormula =
      JoinTexts(R"(codes, scale = quantize(y),  y = rope(x, position), with its attributes
  x, y          [B,H,S,D]  same unit; channels outside offset .. offset+R pass unchanged
  position      [B,S]      tokens; integers, negative rotates back
  scale         [B,H,S]    unit of x, or with tensor_scale a number; one for each head and token
  codes         [B,H,S,D]
  tensor_scale  [1]        unit of x; 1 without with=tensor_scale
)",
                kQuantizedFormula);
  static constexpr std::string_view kSource =
      "flashinfer-ai/flashinfer include/flashinfer/pos_enc.cuh (RopeQuantize: a given scale, "
      "scale_rule=one)";

  void Visit(auto&& v) {
    v(kWith, with);
    RopeAttributes::Visit(v);
    Quantize::VisitAtEnd(v);
  }
  void Check() const {
    RopeAttributes::Check();
    Quantize::Check();
  }
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position,
                  const Tensor<Real>* tensor_scale, Tensor<Real>& scale, Tensor<Real>& codes) const;
};

}  // namespace sextant

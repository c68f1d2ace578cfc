// Re-rotation of cached keys from position p to position p + delta.
#pragma once

#include <string_view>

#include "reference/number/tensor/tensor.h"
#include "reference/rope/rope_attributes.h"

namespace sextant {

struct RopeShift : RopeAttributes {
  static constexpr std::string_view kName = "rope_shift";
  static constexpr std::string_view kSignature = "k[B,K,T,D] delta:i64[B] -> y[B,K,T,D]";
  static constexpr std::string_view kSlices = "TKB";
  static constexpr std::string_view kSteps = "exponent frequency angle trig table rotate";
  static constexpr std::string_view kDraw = "k=normal delta=sequence(-512)";
  static constexpr std::string_view kChoices =
      "pairing=half|interleaved base=10000|500000|2 "
      "scaling=none|linear(factor=8)|llama3(factor=8)|llama3(factor=32)|"
      "dynamic(factor=2,max_position_embeddings=4096)|"
      "yarn(factor=4,original_max_position_embeddings=4096) seq_len=|8192 offset=0|1|2 "
      "direction=forward|transpose B=1|2 K=1|3 T=1|5 D=4|6|16|34|64 R=4|2|16|64";
  static constexpr std::string_view kFormula =
      "rope(k, delta) with amplitude 1: all keys of sequence b are rotated by delta[b] f\n"
      "  k, y   [B,K,T,D]  same unit; rotated keys, which contain their amplitude already;\n"
      "                    channels outside offset .. offset+R pass unchanged\n"
      "  delta  [B]        tokens; integers, negative where older tokens were dropped";
  static constexpr std::string_view kSource =
      "Su et al. 2021, arXiv:2104.09864, section 3.4.2: R(p + delta) = R(delta) R(p); the shift of "
      "ggml-org/llama.cpp#3228";

  template <class Real>
  void operator()(const Tensor<Real>& k, const Tensor<double>& delta, Tensor<Real>& y) const;
};

}  // namespace sextant

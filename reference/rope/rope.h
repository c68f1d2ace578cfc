// Rotary position embedding, with frequencies and angles computed from the configuration.
#pragma once

#include <string_view>

#include "reference/number/tensor/tensor.h"
#include "reference/rope/rope_attributes.h"

namespace sextant {

struct Rope : RopeAttributes {
  static constexpr std::string_view kName = "rope";
  static constexpr std::string_view kSignature = "x[B,H,S,D] position:i64[B,S] -> y[B,H,S,D]";
  static constexpr std::string_view kSlices = "SHB";
  static constexpr std::string_view kSteps = "exponent frequency angle trig table rotate";
  static constexpr std::string_view kDraw = "x=normal position=sequence";
  static constexpr auto kChoices =
      JoinTexts("pairing=half|interleaved base=10000|500000|2 scaling=none|", kScalingChoices,
                " seq_len=|4096|4097|16384 offset=0|1|2 direction=forward|transpose "
                "B=1|2 H=1|3 S=1|5 D=4|6|16|34|64 R=4|2|16|64");
  static constexpr std::string_view kFormula =
      "rope_rotate(x, rope_table(position, rope_frequencies()))\n"
      "  x, y      [B,H,S,D]  same unit; channels outside offset .. offset+R pass unchanged\n"
      "  position  [B,S]      tokens; integers, negative rotates back";
  static constexpr std::string_view kSource =
      "Su et al. 2021, arXiv:2104.09864, eq. 34; scalings: reference/rope/scaling.h";

  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position, Tensor<Real>& y) const;
};

}  // namespace sextant

// Tables of cos and sin for every position and pair.
#pragma once

#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

struct RopeTable {
  static constexpr std::string_view kName = "rope_table";
  static constexpr std::string_view kSignature =
      "position:i64[B,S] inv_freq:wide[R/2] -> cos[B,S,R/2] sin[B,S,R/2]";
  static constexpr std::string_view kSlices = "SB";
  static constexpr std::string_view kSteps = "angle trig table";
  static constexpr std::string_view kDraw = "position=sequence inv_freq=geometric";
  static constexpr std::string_view kChoices =
      "attention_factor=1|1.25|0.7 B=1|2 S=1|5|7 R=2|4|6|16|34";
  static constexpr std::string_view kFormula =
      "cos[b,s,k] = attention_factor cos(position[b,s] inv_freq[k]), sin[b,s,k] in the same way\n"
      "  position  [B,S]      tokens; integers, may be negative\n"
      "  inv_freq  [R/2]      radians per token\n"
      "  cos, sin  [B,S,R/2]  between -attention_factor and attention_factor";
  static constexpr std::string_view kSource = "Su et al. 2021, arXiv:2104.09864, eq. 34";

  double attention_factor = 1;
  void Visit(auto&& v) { v("attention_factor", attention_factor); }
  template <class Real>
  void operator()(const Tensor<double>& position, const Tensor<Real>& inv_freq, Tensor<Real>& cos,
                  Tensor<Real>& sin) const;

  // The same with a computed amplitude in place of the attribute attention_factor.
  template <class Real>
  static void Fill(const Tensor<double>& position, const Tensor<Real>& inv_freq,
                   const Real& amplitude, Tensor<Real>& cos, Tensor<Real>& sin);

  // The same for pair k alone: each pair may have other positions.
  template <class Real>
  static void FillPair(const Tensor<double>& position, const Real& frequency, const Real& amplitude,
                       size_t k, Tensor<Real>& cos, Tensor<Real>& sin);
};

}  // namespace sextant

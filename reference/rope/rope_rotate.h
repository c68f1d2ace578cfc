// The rotation of queries and keys by given cos and sin tables.
#pragma once

#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"
#include "reference/rope/scaling.h"

namespace sextant {

// Throws Error unless R is even and channels offset .. offset + R - 1 lie inside a head of width D.
void CheckWindow(int64_t offset, int64_t rotary_width, int64_t head_width);

struct RopeRotate {
  static constexpr std::string_view kName = "rope_rotate";
  static constexpr std::string_view kSignature =
      "x[B,H,S,D] cos[B,S,R/2] sin[B,S,R/2] -> y[B,H,S,D]";
  static constexpr std::string_view kSlices = "HSB";
  static constexpr std::string_view kSteps = "rotate";
  static constexpr std::string_view kDraw = "x=normal cos=circle_cos sin=circle_sin";
  static constexpr std::string_view kChoices =
      "pairing=half|interleaved offset=0|1|2 direction=forward|transpose B=1|2 H=1|3 S=1|5 "
      "D=4|6|16|34 R=4|2|16";
  static constexpr std::string_view kFormula =
      "for every pair k of channels (i, j) of the window, c = cos[b,s,k], s = sin[b,s,k]:\n"
      "  y_i = x_i c - x_j s,  y_j = x_i s + x_j c     (transpose: s negated)\n"
      "  x, y      [B,H,S,D]  same unit; channels outside offset .. offset+R pass unchanged\n"
      "  cos, sin  [B,S,R/2]\n"
      "  half: (i, j) = offset + (k, k + R/2); interleaved: offset + (2k, 2k + 1)";
  static constexpr std::string_view kSource = "Su et al. 2021, arXiv:2104.09864, eq. 34";

  Pairing pairing{};
  int64_t offset = 0;
  Direction direction = Direction::kForward;
  Dimension D{}, R{};
  void Visit(auto&& v) {
    v("pairing", pairing, kRequired);
    v("offset", offset);
    v("direction", direction);
    v("D", D);
    v("R", R);
  }
  void Check() const;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& cos, const Tensor<Real>& sin,
                  Tensor<Real>& y) const;
};

}  // namespace sextant

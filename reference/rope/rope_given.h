// Rotation with given frequencies: a test of the rotation without the computation of frequencies.
#pragma once

#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"
#include "reference/rope/scaling.h"

namespace sextant {

struct RopeGiven {
  static constexpr std::string_view kName = "rope_given";
  static constexpr std::string_view kSignature =
      "x[B,H,S,D] position:i64[B,S] inv_freq:wide[R/2] -> y[B,H,S,D]";
  static constexpr std::string_view kSlices = "SHB";
  static constexpr std::string_view kSteps = "angle trig table rotate";
  static constexpr std::string_view kDraw = "x=normal position=sequence inv_freq=geometric";
  static constexpr std::string_view kChoices =
      "pairing=half|interleaved offset=0|1|2 direction=forward|transpose "
      "attention_factor=1|1.25|0.7 B=1|2 H=1|3 S=1|5 D=4|6|16|34 R=4|2|16";
  static constexpr std::string_view kFormula =
      "rope_rotate(x, rope_table(position, inv_freq))\n"
      "  x, y      [B,H,S,D]  same unit; channels outside offset .. offset+R pass unchanged\n"
      "  position  [B,S]      tokens; integers, negative rotates back\n"
      "  inv_freq  [R/2]      radians per token";
  static constexpr std::string_view kSource = "Su et al. 2021, arXiv:2104.09864, eq. 34";

  Pairing pairing{};
  int64_t offset = 0;
  Direction direction = Direction::kForward;
  double attention_factor = 1;
  Dimension D{}, R{};
  void Visit(auto&& v) {
    v("pairing", pairing, kRequired);
    v("offset", offset);
    v("direction", direction);
    v("attention_factor", attention_factor);
    v("D", D);
    v("R", R);
  }
  void Check() const;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position,
                  const Tensor<Real>& inv_freq, Tensor<Real>& y) const;
};

}  // namespace sextant

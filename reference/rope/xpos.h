// Extrapolatable position embedding (xPos): a rotation times a factor that decreases with the
// position of queries and increases with the position of keys, so that scores decay with distance.
#pragma once

#include <array>
#include <string_view>

#include "reference/number/tensor/tensor.h"
#include "reference/rope/rope_attributes.h"

namespace sextant {

enum class XposRole { kQuery, kKey };
constexpr std::array<std::string_view, 2> NamesOf(XposRole) { return {"query", "key"}; }

struct Xpos {
  static constexpr std::string_view kName = "xpos";
  static constexpr std::string_view kSignature = "x[B,H,S,D] position:i64[B,S] -> y[B,H,S,D]";
  static constexpr std::string_view kSlices = "SHB";
  static constexpr std::string_view kSteps = "exponent frequency angle trig factor table rotate";
  static constexpr std::string_view kDraw = "x=normal position=sequence";
  static constexpr std::string_view kChoices =
      "pairing=half|interleaved base=10000|500000|2 role=query|key scale_base=512|64|2048 "
      "gamma=0.4|1|0.25 center=0|64|-7 offset=0|1|2 B=1|2 H=1|3 S=1|5 D=4|6|16|34 R=4|2|16";
  static constexpr std::string_view kFormula =
      "pair k of rope(x, p) times z_k^t, or z_k^-t for keys; p = position[b,s]:\n"
      "  z_k = (2k/R + gamma) / (1 + gamma),  t = (p - center) / scale_base\n"
      "  x, y        [B,H,S,D]  same unit; channels outside offset .. offset+R pass unchanged\n"
      "  position    [B,S]      tokens; integers, may be negative\n"
      "  center                 tokens; must be the same for queries and keys\n"
      "  scale_base             tokens; after scale_base tokens the factor of pair k is z_k";
  static constexpr std::string_view kSource =
      "Sun et al. 2022, arXiv:2212.10554, section 3; microsoft/torchscale, "
      "xpos_relative_position.py, commit 4d1e0e8";

  Pairing pairing{};
  double base = 10000;
  XposRole role{};
  double scale_base = 512, gamma = 0.4;
  int64_t center = 0, offset = 0;
  Dimension D{}, R{};
  static constexpr Direction direction = Direction::kForward;
  void Visit(auto&& v) {
    v("pairing", pairing, kRequired);
    v("base", base);
    v("role", role, kRequired);
    v("scale_base", scale_base);
    v("gamma", gamma);
    v("center", center);
    v("offset", offset);
    v("D", D);
    v("R", R);
  }
  void Check() const;
  // The rotation without the factor.
  RopeAttributes Rotary() const {
    return {.pairing = pairing, .base = base, .scaling = {}, .offset = offset, .D = D, .R = R};
  }

  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position, Tensor<Real>& y) const;
};

}  // namespace sextant

// The rotation as a dense matrix.
#pragma once

#include <string_view>

#include "reference/number/tensor/tensor.h"
#include "reference/rope/rope_frequencies.h"
#include "reference/rope/scaling.h"

namespace sextant {

struct RopeMatrix {
  static constexpr std::string_view kName = "rope_matrix";
  static constexpr std::string_view kSignature = "position:i64[S] -> matrix[S,D,D]";
  static constexpr std::string_view kSlices = "S";
  static constexpr std::string_view kSteps = "exponent frequency angle trig table";
  static constexpr std::string_view kDraw = "position=sequence";
  static constexpr auto kChoices =
      JoinTexts("pairing=half|interleaved base=10000|500000|2 scaling=none|", kScalingChoices,
                " seq_len=|4096|4097|16384 S=4|1|7 D=6|2|4|32");
  static constexpr std::string_view kFormula =
      "matrix[s] = R(position[s]), so that R x = rope(x); for every pair (i, j) with angle a:\n"
      "  R_ii = cos a, R_ij = -sin a, R_ji = sin a, R_jj = cos a; all other elements are 0\n"
      "  position  [S]      tokens; integers\n"
      "  matrix    [S,D,D]  row, column; D is even";
  static constexpr std::string_view kSource = "Su et al. 2021, arXiv:2104.09864, eq. 15";

  Pairing pairing{};
  double base = 10000;
  RopeScaling scaling{};
  std::optional<int64_t> seq_len{};
  Dimension D;
  void Visit(auto&& v) {
    v("pairing", pairing, kRequired);
    v("base", base);
    v("scaling", scaling);
    v("seq_len", seq_len);
    v("D", D);
  }
  void Check() const;
  RopeFrequencies Frequencies() const {
    return {.base = base, .scaling = scaling, .seq_len = seq_len, .R = D};
  }
  RotarySetting Setting() const { return Frequencies().Setting(); }
  template <class Real>
  void operator()(const Tensor<double>& position, Tensor<Real>& matrix) const;
};

}  // namespace sextant

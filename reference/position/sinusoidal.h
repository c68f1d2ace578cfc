// Sinusoidal encoding of absolute positions.
#pragma once

#include <array>
#include <string_view>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

enum class Layout { kInterleaved, kConcatenated };
constexpr std::array<std::string_view, 2> NamesOf(Layout) {
  return {"interleaved", "concatenated"};
}

enum class Denominator { kPaper, kTensor2Tensor };
constexpr std::array<std::string_view, 2> NamesOf(Denominator) {
  return {"paper", "tensor2tensor"};
}

struct Sinusoidal {
  static constexpr std::string_view kName = "sinusoidal";
  static constexpr std::string_view kSignature = "position:i64[S] -> y[S,M]";
  static constexpr std::string_view kSlices = "S";
  static constexpr std::string_view kSteps = "exponent frequency angle trig table";
  static constexpr std::string_view kDraw = "position=sequence";
  static constexpr std::string_view kChoices =
      "base=10000|100|500000 layout=interleaved|concatenated denominator=paper|tensor2tensor "
      "S=5|1|9 M=6|2|4|8|64";
  static constexpr std::string_view kFormula =
      "y[s,.] = sin(position[s] f[k]), cos(position[s] f[k]) for k = 0 .. M/2-1\n"
      "  position  [S]    tokens; integers\n"
      "  y         [S,M]  interleaved: channels 2k, 2k+1; concatenated: k, M/2+k; M is even\n"
      "  f[k] = base^-(2k/M); tensor2tensor: base^-(k/max(M/2-1, 1))";
  static constexpr std::string_view kSource =
      "Vaswani et al. 2017, arXiv:1706.03762, section 3.5; tensor2tensor "
      "layers/common_attention.py get_timing_signal_1d, commit bafdc1b6";

  double base = 10000;
  Layout layout = Layout::kInterleaved;
  Denominator denominator = Denominator::kPaper;
  Dimension M;
  void Visit(auto&& v) {
    v("base", base);
    v("layout", layout);
    v("denominator", denominator);
    v("M", M);
  }
  void Check() const;
  template <class Real>
  void operator()(const Tensor<double>& position, Tensor<Real>& y) const;
};

}  // namespace sextant

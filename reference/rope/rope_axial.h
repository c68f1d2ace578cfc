// Axial rotary embedding: each axis of an image or a video rotates its own part of the channels.
// Coordinates are real numbers.
#pragma once

#include <array>
#include <string_view>

#include "reference/number/tensor/tensor.h"
#include "reference/rope/rope_attributes.h"

namespace sextant {

enum class AxialFrequencies { kLang, kPixel, kConstant };
constexpr std::array<std::string_view, 3> NamesOf(AxialFrequencies) {
  return {"lang", "pixel", "constant"};
}
enum class Arrangement { kBlocks, kAlternating, kHalves };
constexpr std::array<std::string_view, 3> NamesOf(Arrangement) {
  return {"blocks", "alternating", "halves"};
}

struct RopeAxial {
  static constexpr std::string_view kName = "rope_axial";
  static constexpr std::string_view kSignature = "x[B,H,S,D] position:real[B,A,S] -> y[B,H,S,D]";
  static constexpr std::string_view kSlices = "SHB";
  static constexpr std::string_view kSteps = "exponent frequency angle trig table rotate";
  static constexpr std::string_view kDraw = "x=normal position=uniform(-1,1)";
  static constexpr std::string_view kChoices =
      "frequencies=lang|pixel|constant arrangement=blocks|alternating|halves "
      "pairing=half|interleaved base=10000|100|2 max_freq=10|256|8 offset=0|1|2 "
      "direction=forward|transpose A=2|1|3 B=1|2 H=1|3 S=1|5 D=8|12|34 R=8|4|12|24";
  static constexpr std::string_view kFormula =
      "P = R/(2A) pairs per axis; pair k = a P + j rotates by position[b,a,s] f[i], 0 <= i < n:\n"
      "  lang      f[i] = base^(-i/n)\n"
      "  pixel     f[i] = pi (1 + (max_freq/2 - 1) i/(n-1)), pi for n = 1\n"
      "  constant  f[i] = 1\n"
      "  blocks       n = P, i = j: axis a has channels 2P a .. 2P (a+1), and pairs within these\n"
      "  alternating  n = A P, i = A j + a: the axes share one list; pairs over all R channels\n"
      "  halves       n = P, i = j: pairs over all R channels (if interleaved, same as blocks)\n"
      "  x, y      [B,H,S,D]  same unit; channels outside offset .. offset+R pass unchanged\n"
      "  position  [B,A,S]    coordinates: rows, columns ...; any real numbers";
  static constexpr std::string_view kSource =
      "blocks: lucidrains/rotary-embedding-torch get_axial_freqs, Llama 4 vision, ChatGLM-6B; "
      "alternating: Pixtral; halves: Qwen2-VL (huggingface/transformers, modeling files)";

  AxialFrequencies frequencies{};
  Arrangement arrangement{};
  Pairing pairing{};
  double base = 10000, max_freq = 10;
  int64_t offset = 0;
  Direction direction = Direction::kForward;
  Dimension A{}, D{}, R{};
  void Visit(auto&& v) {
    v("frequencies", frequencies, kRequired);
    v("arrangement", arrangement, kRequired);
    v("pairing", pairing, kRequired);
    v("base", base);
    v("max_freq", max_freq);
    v("offset", offset);
    v("direction", direction);
    v("A", A);
    v("D", D);
    v("R", R);
  }
  void Check() const;

  size_t PairsPerAxis() const { return static_cast<size_t>(R.value / (2 * A.value)); }
  // Index i in a list of n frequencies.
  struct FrequencyIndex {
    int64_t i, n;
  };
  // Of pair j of axis a.
  FrequencyIndex FrequencyIndexOf(size_t a, size_t j) const;
  // The number of consecutive windows of channels, from offset on; pairs lie within one window.
  size_t Windows() const {
    return arrangement == Arrangement::kBlocks ? static_cast<size_t>(A.value) : 1;
  }

  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position, Tensor<Real>& y) const;
};

}  // namespace sextant

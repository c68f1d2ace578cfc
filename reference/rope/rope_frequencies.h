// The rotary frequencies of a configuration.
#pragma once

#include <string_view>
#include <vector>

#include "reference/case/attribute.h"
#include "reference/number/tensor/tensor.h"
#include "reference/rope/scaling.h"

namespace sextant {

struct RopeFrequencies {
  static constexpr std::string_view kName = "rope_frequencies";
  static constexpr std::string_view kSignature = "-> inv_freq:wide[R/2] attention_factor:wide[]";
  static constexpr std::string_view kSlices = "";
  static constexpr std::string_view kSteps = "exponent frequency";
  static constexpr std::string_view kDraw = "";
  static constexpr auto kChoices = JoinTexts(
      "base=10000|500000|150000|2 scaling=none|explicit(inv_freq=[1,0.5,0.25])|", kScalingChoices,
      "|linear(factor=2.5)|"
      "yarn(factor=32,original_max_position_embeddings=4096,truncate=false)|"
      "yarn(factor=4,original_max_position_embeddings=4096,ramp=rotations)|"
      "yarn(factor=40,original_max_position_embeddings=4096,mscale=1,mscale_all_dim=0.7) "
      "seq_len=|1024|4096|4097|16384 R=2|4|6|64|96|128");
  static constexpr std::string_view kFormula =
      "inv_freq[k] = scaling(base^(-2k/R))\n"
      "attention_factor = 1, except for yarn, longrope and explicit\n"
      "  seq_len           tokens of the sequence, for dynamic and longrope; unset: the context\n"
      "                    that the model was trained on\n"
      "  inv_freq          [R/2]  radians per token\n"
      "  attention_factor  []     amplitude of cos and sin";
  static constexpr std::string_view kSource =
      "Su et al. 2021, arXiv:2104.09864, section 3.2.2; scalings: reference/rope/scaling.h";

  double base = 10000;
  RopeScaling scaling{};
  std::optional<int64_t> seq_len{};
  Dimension R{};
  void Visit(auto&& v) {
    v("base", base);
    v("scaling", scaling);
    v("seq_len", seq_len);
    v("R", R);
  }
  void Check() const;
  RotarySetting Setting() const { return {base, R.value, seq_len}; }
  template <class Real>
  void operator()(Tensor<Real>& inv_freq, Tensor<Real>& attention_factor) const;
};

// The operation with each alternative of its scaling, for every operation that has a scaling.
template <class Op>
requires requires(const Op& op) { AlternativesOf(op.scaling, op.Setting()); }
std::vector<Op> AlternativesOf(const Op& op) {
  std::vector<Op> all;
  for (const RopeScaling& other : AlternativesOf(op.scaling, op.Setting())) {
    all.push_back(op);
    all.back().scaling = other;
  }
  return all;
}

}  // namespace sextant

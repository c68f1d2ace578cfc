// The tables of cos and sin that frameworks cache, computed from the configuration.
#pragma once

#include <string_view>

#include "reference/case/table_layout.h"
#include "reference/number/tensor/tensor.h"
#include "reference/rope/rope_frequencies.h"

namespace sextant {

struct RopeCosSin {
  static constexpr std::string_view kName = "rope_cos_sin";
  static constexpr std::string_view kSignature =
      "position:i64[B,S] -> cos[B,S,layout*R/2] sin[B,S,layout*R/2]";
  static constexpr std::string_view kSlices = "SB";
  static constexpr std::string_view kSteps = "exponent frequency angle trig table";
  static constexpr std::string_view kDraw = "position=sequence";
  static constexpr auto kChoices =
      JoinTexts("layout=half_width|halves|interleaved base=10000|500000|2 scaling=none|",
                kScalingChoices, " seq_len=|4096|4097|16384 B=1|2 S=1|5|7 R=4|2|6|16|34");
  static constexpr std::string_view kFormula =
      "c[b,s,k] = attention_factor cos(position[b,s] inv_freq[k]), k = 0 .. R/2-1, with the\n"
      "frequencies and the factor of rope_frequencies, which are not rounded; sin in the same way\n"
      "  layout    half_width   cos[b,s,.] = c[b,s,.]: R/2 columns\n"
      "            halves       columns k and k + R/2 are c[b,s,k]: cat((c, c)) of Hugging Face\n"
      "            interleaved  columns 2k and 2k + 1 are c[b,s,k]: repeat_interleave of GPT-J\n"
      "  seq_len   tokens of the sequence, for dynamic and longrope; unset: the context that the\n"
      "            model was trained on\n"
      "  position  [B,S]  tokens; integers, may be negative\n"
      "  cos, sin  [B,S,layout*R/2]  layout counts the columns of a pair: 1 or 2";
  static constexpr std::string_view kSource =
      "Su et al. 2021, arXiv:2104.09864, eq. 34; scalings: reference/rope/scaling.h; layouts: "
      "huggingface/transformers modeling_llama.py (LlamaRotaryEmbedding) and modeling_gptj.py "
      "(apply_rotary_pos_emb)";

  TableLayout layout{};
  double base = 10000;
  RopeScaling scaling{};
  std::optional<int64_t> seq_len{};
  Dimension R{};
  void Visit(auto&& v) {
    v("layout", layout, kRequired);
    v("base", base);
    v("scaling", scaling);
    v("seq_len", seq_len);
    v("R", R);
  }
  void Check() const { Frequencies().Check(); }
  RopeFrequencies Frequencies() const {
    return {.base = base, .scaling = scaling, .seq_len = seq_len, .R = R};
  }
  RotarySetting Setting() const { return Frequencies().Setting(); }
  template <class Real>
  void operator()(const Tensor<double>& position, Tensor<Real>& cos, Tensor<Real>& sin) const;

  // Copies the columns of the pairs, half [B,S,R/2], to their columns in the layout.
  template <class Real>
  void Arrange(const Tensor<Real>& half, Tensor<Real>& table) const;
};

// The columns of pair k of `pairs` in a table of the layout. half_width has one: both are equal.
constexpr PairOfChannels ColumnsOf(TableLayout layout, size_t k, size_t pairs) {
  switch (layout) {
    case TableLayout::kHalves:
      return ChannelsOf(Pairing::kHalf, k, 2 * pairs);
    case TableLayout::kInterleaved:
      return ChannelsOf(Pairing::kInterleaved, k, 2 * pairs);
    case TableLayout::kHalfWidth:
      break;
  }
  return {k, k};
}

}  // namespace sextant

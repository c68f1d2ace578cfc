// Multimodal rotary embedding (M-RoPE): a token has one position per axis, and each pair of
// channels uses one axis.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "reference/number/tensor/tensor.h"
#include "reference/rope/rope_attributes.h"

namespace sextant {

// The n = sections[a] pairs that use the position of axis a:
//   contiguous   n consecutive pairs; the axes follow each other
//   interleaved  every A-th pair from pair a on, n pairs; axis 0 also has all remaining pairs
//   trailing     axes 1, 2, ... alternate from the first pair on; axis 0 has the last n pairs
enum class SectionOrder { kContiguous, kInterleaved, kTrailing };
constexpr std::array<std::string_view, 3> NamesOf(SectionOrder) {
  return {"contiguous", "interleaved", "trailing"};
}

// Throws Error if these are no sections of so many pairs.
void CheckSections(const std::vector<int64_t>& sections, SectionOrder order, int64_t pairs);
// The axis of each pair. The sections are valid.
std::vector<size_t> AxesOfPairs(const std::vector<int64_t>& sections, SectionOrder order,
                                int64_t pairs);

struct RopeSections : RopeAttributes {
  static constexpr std::string_view kName = "rope_sections";
  static constexpr std::string_view kSignature = "x[B,H,S,D] position:i64[B,A,S] -> y[B,H,S,D]";
  static constexpr std::string_view kSlices = "SHB";
  static constexpr std::string_view kSteps = "exponent frequency angle trig table rotate";
  static constexpr std::string_view kDraw = "x=normal position=random_positions(4096)";
  static constexpr std::string_view kChoices =
      "sections=[2,1,1]|[1,1,1]|[1,2,1]|[3,1]|[2,2]|[6,5,5]|[8,12,12] "
      "order=contiguous|interleaved|trailing pairing=half|interleaved base=10000|500000|2 "
      "scaling=none|linear(factor=8)|llama3(factor=8)|"
      "yarn(factor=4,original_max_position_embeddings=4096)|"
      "dynamic(factor=2,max_position_embeddings=4096) seq_len=|8192 offset=0|1|2 "
      "direction=forward|transpose "
      "A=3|2 B=1|2 H=1|3 S=1|5 D=8|10|34|66 R=8|6|32|64";
  static constexpr std::string_view kFormula =
      "rope(x, position[axis(k)]) for every pair k; all axes use the same list of frequencies\n"
      "  x, y      [B,H,S,D]  same unit; channels outside offset .. offset+R pass unchanged\n"
      "  position  [B,A,S]    tokens, frames, rows, columns ...; integers, may be negative\n"
      "  sections  [A]        pairs of each axis; their sum is R/2\n"
      "  axis(k)   contiguous: the a whose section contains k; the sections follow each other;\n"
      "            interleaved: a = k mod A if k < A sections[a], else 0;\n"
      "            trailing: a = 1 + k mod (A-1), but 0 for the last sections[0] pairs";
  static constexpr std::string_view kSource =
      "Wang et al. 2024, arXiv:2409.12191, section 2.1 (contiguous: Qwen2-VL, apply_multimodal_"
      "rotary_pos_emb; four axes: HunyuanOCR's xDRoPE, vllm-project/vllm "
      "rotary_embedding/xdrope.py); interleaved: Qwen3-VL, apply_interleaved_mrope "
      "(huggingface/transformers); trailing: ERNIE-4.5-VL (vllm-project/vllm "
      "rotary_embedding/ernie45_vl_rope.py)";

  std::vector<int64_t> sections;
  SectionOrder order{};
  Dimension A{};
  void Visit(auto&& v) {
    v("sections", sections, kRequired);
    v("order", order, kRequired);
    v("A", A);
    RopeAttributes::Visit(v);
  }
  void Check() const;

  // The axis of each pair.
  std::vector<size_t> Axes() const { return AxesOfPairs(sections, order, R.value / 2); }

  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position, Tensor<Real>& y) const;
};

// The positions of one axis, [B,S].
Tensor<double> PositionsOfAxis(const Tensor<double>& position, size_t axis);

}  // namespace sextant

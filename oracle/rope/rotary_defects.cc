#include "oracle/rope/rotary_defects.h"

#include <algorithm>

#include "oracle/diagnosis/catalog_entry.h"

namespace sextant::oracle {
namespace {

Pairing Other(Pairing pairing) {
  return pairing == Pairing::kHalf ? Pairing::kInterleaved : Pairing::kHalf;
}

// x[0::2] and x[1::2] concatenated as (-x[1::2], x[0::2]), times tables in half order.
std::optional<ChannelRotation> MixedRotateHalf(const Head& head, size_t c) {
  if (!CorrectRotation(head, c)) return std::nullopt;
  const size_t w = c - head.offset, half = head.R / 2;
  const size_t partner = w < half ? 2 * w + 1 : 2 * (w - half);
  return ChannelRotation{head.offset + partner, w % half, c, 1, w < half ? -1 : 1};
}

// The partner and sign of the other pairing, the table of the right one.
std::optional<ChannelRotation> PartnerOfOtherPairing(const Head& head, size_t c) {
  auto rotation = CorrectRotation(head, c);
  const auto other = CorrectRotation({Other(head.pairing), head.offset, head.R, head.D}, c);
  if (!rotation) return rotation;
  rotation->partner = other->partner;
  rotation->sine_sign = other->sine_sign;
  return rotation;
}

// Correct values in the order of the other pairing.
std::optional<ChannelRotation> OutputInOtherOrder(const Head& head, size_t c) {
  auto rotation = CorrectRotation(head, c);
  if (!rotation) return rotation;
  const auto [first, second] = ChannelsOf(Other(head.pairing), rotation->pair, head.R);
  rotation->target =
      head.offset + (IsFirst(head.pairing, c - head.offset, head.R) ? first : second);
  return rotation;
}

std::optional<ChannelRotation> SecondTermSubtracted(const Head& head, size_t c) {
  auto rotation = CorrectRotation(head, c);
  if (rotation && rotation->sine_sign > 0) rotation->cos_sign = -1;
  return rotation;
}

std::optional<ChannelRotation> MinusMissing(const Head& head, size_t c) {
  auto rotation = CorrectRotation(head, c);
  if (rotation) rotation->sine_sign = 1;
  return rotation;
}

std::optional<ChannelRotation> Backwards(const Head& head, size_t c) {
  auto rotation = CorrectRotation(head, c);
  if (rotation) rotation->sine_sign = -rotation->sine_sign;
  return rotation;
}

std::optional<ChannelRotation> PairedOverHeadWidth(const Head& head, size_t c) {
  const size_t half = head.R / 2, apart = head.D / 2;
  if (head.pairing != Pairing::kHalf) return CorrectRotation(head, c);
  for (size_t k = 0; k < half; ++k) {
    const size_t first = head.offset + k, second = first + apart;
    if (second >= head.D) break;
    if (c == first) return ChannelRotation{second, k, c, 1, -1};
    if (c == second) return ChannelRotation{first, k, c, 1, 1};
  }
  return std::nullopt;
}

std::optional<ChannelRotation> LastPairLeftOut(const Head& head, size_t c) {
  auto rotation = CorrectRotation(head, c);
  return rotation && rotation->pair + 1 < head.R / 2 ? rotation : std::nullopt;
}

std::optional<ChannelRotation> RestZeroed(const Head& head, size_t c) {
  const auto rotation = CorrectRotation(head, c);
  return rotation ? rotation : ChannelRotation{c, 0, c, 0, 1};
}

std::optional<ChannelRotation> OneFrequencyPerChannel(const Head& head, size_t c) {
  auto rotation = CorrectRotation(head, c);
  if (rotation) rotation->pair = c - head.offset;
  return rotation;
}

std::optional<ChannelRotation> NextFrequency(const Head& head, size_t c) {
  auto rotation = CorrectRotation(head, c);
  if (rotation) ++rotation->pair;
  return rotation;
}

Row OfHead(size_t b, size_t h, size_t, size_t S) { return {b, h % S}; }
Row OfFirstBatch(size_t, size_t, size_t s, size_t) { return {0, s}; }
Row OfFirstPosition(size_t b, size_t, size_t, size_t) { return {b, 0}; }
Row AtHalfStride(size_t b, size_t, size_t s, size_t) { return {b, s / 2}; }

using MutatedFlow = RotaryMutation::Flow;

constexpr RotaryMutation kRotationMutations[] = {
    {.name = "mixed_rotate_half",
     .why = "rotate_half pairs neighbouring channels but concatenates them in half order, and the "
            "tables are in half order too",
     .rotation = MixedRotateHalf},
    {.name = "partner_of_other_pairing",
     .why = "rotate_half of one pairing is used with the table of the other "
            "(huggingface/transformers#47328)",
     .rotation = PartnerOfOtherPairing},
    {.name = "output_in_other_order",
     .why = "even and odd channels of the result are concatenated instead of interleaved, or the "
            "reverse (lucidrains/rotary-embedding-torch@204cb02)",
     .rotation = OutputInOtherOrder},
    {.name = "one_frequency_per_channel",
     .why = "cos and sin are not repeated for the second channel of a pair: every channel has its "
            "own frequency",
     .rotation = OneFrequencyPerChannel},
    {.name = "next_frequency",
     .why = "every pair uses the next column of the table (PaddlePaddle/FastDeploy#8012)",
     .rotation = NextFrequency},
    {.name = "second_term_subtracted",
     .why = "the second channel is x1 sin - x2 cos instead of x1 sin + x2 cos",
     .rotation = SecondTermSubtracted},
    {.name = "minus_missing",
     .why = "rotate_half lacks its minus sign: both channels add the sine term",
     .rotation = MinusMissing},
    {.name = "rotates_backwards",
     .why = "the sine has the wrong sign, as for the other direction (trymirai/lalamo#268)",
     .rotation = Backwards},
    {.name = "paired_over_head_width",
     .why = "the channels of a partly rotated head are paired over the whole head "
            "(pie-project/pie#603)",
     .rotation = PairedOverHeadWidth},
    {.name = "last_pair_left_out",
     .why = "the last pair is not rotated: a loop stops one pair early or omits the remainder",
     .rotation = LastPairLeftOut},
    {.name = "rest_zeroed",
     .why = "channels outside the rotated window become 0 instead of staying unchanged",
     .rotation = RestZeroed},
    {.name = "indexed_by_head",
     .why = "the table is indexed by head instead of position: axes H and S are confused "
            "(facebookresearch/xformers#841)",
     .row = OfHead},
    {.name = "positions_of_first_batch",
     .why = "every row of the batch is rotated by the table of the first row "
            "(linkedin/Liger-Kernel@d7c78df1)",
     .row = OfFirstBatch},
    {.name = "position_of_first_token",
     .why = "every token is rotated by the angles of the first token (Blaizzy/mlx-vlm#1983)",
     .row = OfFirstPosition},
    {.name = "table_at_half_stride",
     .why = "a table of full width is read as one of half width: every row is read twice",
     .row = AtHalfStride},
    {.name = "cos_and_sin_swapped",
     .why = "the table [sin, cos] is read as [cos, sin]",
     .flow = MutatedFlow::kSwapped},
    {.name = "rotates_twice",
     .why = "a tensor that is already rotated is rotated again (NeuraLegion/shainet#110)",
     .flow = MutatedFlow::kTwice},
    {.name = "overwrites_its_input",
     .why = "the rotation is in place: the second channel of a pair is computed from the new value "
            "of the first",
     .flow = MutatedFlow::kInPlace},
    {.name = "adds_instead_of_rotating",
     .why = "cos and sin are added to x, as absolute position embeddings are",
     .flow = MutatedFlow::kAdded},
};

constexpr RotaryMutation kFrequencyMutations[] = {
    {.name = "exponent_shifted_down",
     .why = "frequencies are base^(-2(k-1)/R) with k from 0: all are too large by base^(2/R) "
            "(bkitano/llama-from-scratch#8)",
     .exponent =
         [](int64_t k, int64_t R, int64_t) {
           return Exponent{2 * k - 2, R};
         }},
    {.name = "exponent_shifted_up",
     .why = "frequencies are base^(-2k/R) with k from 1 instead of 0 "
            "(stanford-cs336/assignment1-basics#22)",
     .exponent =
         [](int64_t k, int64_t R, int64_t) {
           return Exponent{2 * k + 2, R};
         }},
    {.name = "exponent_odd",
     .why = "frequencies are base^(-(2k+1)/R): the index of the odd channel is used",
     .exponent =
         [](int64_t k, int64_t R, int64_t) {
           return Exponent{2 * k + 1, R};
         }},
    {.name = "exponent_without_two",
     .why = "frequencies are base^(-k/R): arange lacks its step of 2 (lyogavin/airllm#369)",
     .exponent =
         [](int64_t k, int64_t R, int64_t) {
           return Exponent{k, R};
         }},
    {.name = "exponent_with_four",
     .why = "frequencies are base^(-4k/R): half the width is used as the width "
            "(stanford-crfm/levanter#649)",
     .exponent =
         [](int64_t k, int64_t R, int64_t) {
           return Exponent{4 * k, R};
         }},
    {.name = "exponent_by_integer_division",
     .why = "integer division 2k // R gives 0: all frequencies are 1 (ReaLLMASIC/ReaLLM-Forge#35)",
     .exponent =
         [](int64_t, int64_t R, int64_t) {
           return Exponent{0, R};
         }},
    {.name = "exponent_positive",
     .why = "frequencies are base^(2k/R): periods instead of frequencies",
     .exponent =
         [](int64_t k, int64_t R, int64_t) {
           return Exponent{-2 * k, R};
         }},
    {.name = "exponent_to_last",
     .why = "frequencies are base^(-2k/(R-2)): the last one is 1/base, as in tensor2tensor",
     .exponent =
         [](int64_t k, int64_t R, int64_t) {
           return Exponent{2 * k, std::max<int64_t>(R - 2, 2)};
         }},
    {.name = "frequencies_in_bf16",
     .why =
         "casting the module to bf16 also casts its frequencies (huggingface/transformers#29496)",
     .frequency_format = DType::kBF16},
    {.name = "frequencies_in_f16",
     .why = "casting the module to f16 also casts its frequencies (sgl-project/sglang-jax#1472)",
     .frequency_format = DType::kF16},
    {.name = "frequencies_in_f32",
     .why = "frequencies are stored in f32 where f64 is required",
     .frequency_format = DType::kF32},
    {.name = "exponent_over_head_width",
     .why = "the exponents of a partly rotated head are divided by the width of the whole head "
            "(pie-project/pie#603)",
     .exponent =
         [](int64_t k, int64_t, int64_t D) {
           return Exponent{2 * k, D};
         }},
};

constexpr RotaryMutation kAmplitudeOnCosOnly = {.name = "amplitude_on_cos_only",
                                                .why = "the attention factor multiplies only cos",
                                                .flow = MutatedFlow::kCosOnly};

constexpr RotaryMutation kAnglesIterated = {
    .name = "angles_iterated",
    .why =
        "the angle of each pair is computed from that of the previous pair, so that it has the "
        "rounding errors of all pairs before it (ggml, ggml_rope_cache_init)",
    .flow = MutatedFlow::kIterated};

}  // namespace

std::span<const RotaryMutation> RotationMutations() { return kRotationMutations; }
std::span<const RotaryMutation> FrequencyMutations() { return kFrequencyMutations; }

template <class Op>
std::vector<Defect> RotationDefects() {
  std::vector<Defect> defects = MutationDefects<Mutated<Op>>(kRotationMutations);
  if constexpr (std::is_same_v<Op, RopeMatrix>) {
    // A matrix has neither batch, nor heads, nor channels outside of the window.
    return RemoveDefects(
        {"positions_of_first_batch", "indexed_by_head", "rest_zeroed", "paired_over_head_width"},
        std::move(defects));
  } else if constexpr (std::is_same_v<Op, RopeComplex>) {
    // Complex numbers have only one pairing: neighbouring channels.
    return RemoveDefects({"paired_over_head_width"}, std::move(defects));
  } else if constexpr (std::is_same_v<Op, RopeGiven>) {
    return Joined<Defect>(
        {std::move(defects), MutationDefects<Mutated<Op>>({&kAmplitudeOnCosOnly, 1})});
  }
  return defects;
}

template <class Op>
std::vector<Defect> FrequencyDefects() {
  std::vector<Defect> defects = MutationDefects<Mutated<Op>>(kFrequencyMutations);
  if constexpr (std::is_same_v<Op, Rope> || std::is_same_v<Op, RopeComplex>)
    return Joined<Defect>(
        {std::move(defects), MutationDefects<Mutated<Op>>({&kAnglesIterated, 1})});
  constexpr bool kHasWindow = requires(Op op) { op.offset; };
  return kHasWindow ? defects : RemoveDefects({"exponent_over_head_width"}, std::move(defects));
}

template std::vector<Defect> RotationDefects<RopeRotate>();
template std::vector<Defect> RotationDefects<RopeGiven>();
template std::vector<Defect> RotationDefects<Rope>();
template std::vector<Defect> RotationDefects<RopeComplex>();
template std::vector<Defect> RotationDefects<RopeMatrix>();
template std::vector<Defect> FrequencyDefects<RopeFrequencies>();
template std::vector<Defect> FrequencyDefects<Rope>();
template std::vector<Defect> FrequencyDefects<RopeComplex>();
template std::vector<Defect> FrequencyDefects<RopeMatrix>();
template std::vector<Defect> FrequencyDefects<RopeCosSin>();

}  // namespace sextant::oracle

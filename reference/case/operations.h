// The only list of operations. An operation in the list needs its MakeOperation, its kernel and its
// catalog: a missing part is a link error that names it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reference/case/operation.h"

namespace sextant {

template <class... Ops>
struct List {};

using Operations =
    List<struct Sinusoidal, struct RopeFrequencies, struct RopeTable, struct RopeCosSin,
         struct RopeRotate, struct RopeGiven, struct Rope, struct RopeMatrix, struct RopeComplex,
         struct RopeRelayout, struct RopeSections, struct RopeAxial, struct RopeShift, struct Xpos,
         struct LogNScale, struct TemperatureScale, struct AlibiSlopes, struct Alibi,
         struct RelativeBias, struct RelativeAttention, struct Attention, struct AttentionScores,
         struct AttentionMerge, struct RopeAttention, struct RopeQuantize, struct RmsNorm,
         struct AddRmsNorm, struct LayerNorm, struct Embedding, struct Linear, struct LinearScaled,
         struct Softmax, struct Activation, struct Gated, struct SoftCap, struct Cast,
         struct Quantize, struct Dequantize, struct RmsNormQuantize, struct GatedQuantize,
         struct Router, struct Experts, struct DecoderBlock, struct Decoder, struct FeedForward,
         struct CrossAttention, struct EncoderBlock>;

// Fresh operations, one of each, in the order of the list.
std::vector<std::unique_ptr<Operation>> AllOperations();

std::vector<std::string> OperationNames();

// Throws Error with the names that exist; for a former name (reference/case/former_names.h), with
// today's form of `line`, the case line that begins with it.
std::unique_ptr<Operation> MakeOperationNamed(std::string_view name, std::string_view line = {});

}  // namespace sextant

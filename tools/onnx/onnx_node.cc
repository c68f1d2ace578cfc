#include "tools/onnx/onnx_node.h"

#include <algorithm>
#include <cmath>

#include "fast/kernel/typed.h"
#include "reference/attention/attention.h"
#include "reference/attention/softmax.h"
#include "reference/base/error.h"
#include "reference/layer/activation.h"
#include "reference/layer/layer_norm.h"
#include "reference/layer/rms_norm.h"
#include "reference/rope/rope_rotate.h"

namespace sextant::tools {
namespace {

// A case that no node computes; the text is the reason.
struct Unsupported {
  std::string why;
};

void SetFloat(OnnxNode& node, const char* name, double value) {
  node.attributes.emplace_back(name, static_cast<float>(value));
}
void SetInteger(OnnxNode& node, const char* name, int64_t value) {
  node.attributes.emplace_back(name, value);
}

// X, cos_cache and sin_cache; without position_ids the caches are [B,S,R/2].
OnnxNode NodeOf(const RopeRotate& op) {
  if (op.offset != 0)
    throw Unsupported{"RotaryEmbedding rotates the first channels only: offset=0"};
  if (op.direction != Direction::kForward)
    throw Unsupported{"RotaryEmbedding rotates forward only"};
  if (op.D.value % 2 != 0) throw Unsupported{"RotaryEmbedding needs an even D"};
  if (op.R.value == 0) throw Unsupported{"RotaryEmbedding takes R=0 for R=D"};
  OnnxNode node{.type = "RotaryEmbedding"};
  if (op.pairing == Pairing::kInterleaved) SetInteger(node, "interleaved", 1);
  if (op.R.value != op.D.value) SetInteger(node, "rotary_embedding_dim", op.R.value);
  return node;
}

// X and scale. axis=-1 and stash_type=1 (f32) are the defaults of both norms.
OnnxNode NodeOf(const RmsNorm& op) {
  if (op.unit_offset) throw Unsupported{"RMSNormalization adds no 1 to the weight"};
  OnnxNode node{.type = "RMSNormalization"};
  SetFloat(node, "epsilon", op.eps);
  return node;
}

OnnxNode NodeOf(const LayerNorm& op) {  // X, Scale and B
  OnnxNode node{.type = "LayerNormalization"};
  SetFloat(node, "epsilon", op.eps);
  return node;
}

OnnxNode NodeOf(const Softmax&) { return {.type = "Softmax"}; }  // axis=-1 is the default

OnnxNode NodeOf(const Activation& op) {
  switch (op.kind) {
    case ActivationKind::kSigmoid:
      return {.type = "Sigmoid"};
    case ActivationKind::kRelu:
      return {.type = "Relu"};
    case ActivationKind::kTanh:
      return {.type = "Tanh"};
    case ActivationKind::kGelu:
      return {.type = "Gelu"};
    case ActivationKind::kGeluTanh:
      return {.type = "Gelu", .attributes = {{"approximate", "tanh"}}};
    case ActivationKind::kSwish: {
      OnnxNode node{.type = "Swish", .opset = 24};
      if (op.beta != 1) SetFloat(node, "alpha", op.beta);
      return node;
    }
    case ActivationKind::kRelu2:
      break;
  }
  throw Unsupported{"ONNX has no operator for kind=" + PrintValue(op.kind)};
}

// True if only `mask` excludes keys, and is_causal, for which query 0 is at key 0, expresses it.
bool IsPlain(const AttentionAttributes& op) {
  if (op.window || op.chunk || op.key_length || op.segments) return false;
  bool begins_at_0 = true;
  for (int64_t b = 0; b < op.B.value; ++b)
    begins_at_0 = begins_at_0 && op.FirstIndex(static_cast<size_t>(b)) == 0;
  return op.mask == Mask::kNone || begins_at_0;
}

// A bias is the input attn_mask.
OnnxNode NodeOf(const Attention& op) {
  if (op.with.Has("sink")) throw Unsupported{"Attention has no sink"};
  for (const char* scale : {"q_scale", "k_scale", "v_scale"})
    if (op.with.Has(scale)) throw Unsupported{"Attention has no scales of q, k and v"};
  if (op.add_bias == AddBias::kBeforeScale || (op.add_bias && op.soft_cap))
    throw Unsupported{"Attention adds its attn_mask to the capped score, unlike add_bias=" +
                      PrintValue(op.add_bias)};
  OnnxNode node{.type = "Attention"};
  if (op.scale) SetFloat(node, "scale", *op.scale);
  if (op.soft_cap) SetFloat(node, "softcap", *op.soft_cap);
  if (IsPlain(op) && op.mask == Mask::kCausal) SetInteger(node, "is_causal", 1);
  return node;
}

// attn_mask: 1 where the query sees the key.
void AddMask(const AttentionAttributes& op, OnnxNode& node) {
  const auto B = static_cast<size_t>(op.B.value), S = static_cast<size_t>(op.S.value),
             T = static_cast<size_t>(op.T.value);
  Tensor<double> mask({B, 1, S, T});
  for (size_t b = 0; b < B; ++b) {
    for (size_t s = 0; s < S; ++s) {
      const KeyRange keys = op.KeysOf(b, s);
      for (size_t t = keys.first; t < keys.last; ++t) mask(b, 0, s, t) = 1;
    }
  }
  node.inputs.push_back({{"attn_mask", DType::kI64, std::move(mask)}, true});
}

// The bias is a float attn_mask. A key that the query does not see gets -infinity.
void MaskBias(const AttentionAttributes& op, NamedTensor& bias) {
  const Shape& shape = bias.values.shape;
  for (size_t b = 0; b < shape[0]; ++b) {
    for (size_t s = 0; s < shape[2]; ++s) {
      const KeyRange keys = op.KeysOf(b, s);
      for (size_t h = 0; h < shape[1]; ++h) {
        for (size_t t = 0; t < shape[3]; ++t) {
          if (t < keys.first || t >= keys.last) bias.values(b, h, s, t) = -kInfinity;
        }
      }
    }
  }
}

struct Row {
  std::string_view operation;
  OnnxNode (*node)(const Case& c);
};
template <class Op>
constexpr Row RowOf() {
  return {Op::kName, [](const Case& c) { return NodeOf(fast::StructOf<Op>(c)); }};
}
constexpr Row kRows[] = {RowOf<RopeRotate>(), RowOf<RmsNorm>(),    RowOf<LayerNorm>(),
                         RowOf<Softmax>(),    RowOf<Activation>(), RowOf<Attention>()};

OnnxNode NodeOf(const Case& c) {
  const auto row = std::ranges::find(kRows, c.name(), &Row::operation);
  if (row == std::end(kRows)) {
    throw Unsupported{"no ONNX operator computes " + c.name() +
                      "; the operations with one are:" + NamesText(kRows, &Row::operation)};
  }
  if (c.dtype() != DType::kF32 && c.dtype() != DType::kF16) {
    throw Unsupported{"the case is in " + std::string(NameOf(c.dtype())) +
                      "; node tests are written in f32 and f16"};
  }
  const TensorSpec& output = c.info().signature.outputs.front();
  if (CountOf(c.ShapeOf(output)) == 0) throw Unsupported{output.name + " has no element"};
  OnnxNode node = row->node(c);
  for (const TensorSpec& input : c.signature().inputs) {
    if (c.DTypeOf(input) == c.dtype()) continue;
    throw Unsupported{input.name + " is " + std::string(NameOf(c.DTypeOf(input))) +
                      "; the tensors of " + node.type + " have one type: dtype." + input.name +
                      "=" + std::string(NameOf(c.dtype()))};
  }
  return node;
}

}  // namespace

std::string WhyNoOnnxNode(const Case& c) try {
  NodeOf(c);
  return "";
} catch (const Unsupported& unsupported) {
  return unsupported.why;
}

std::string WhyNoOnnxNode(const Case& c, const Tensors& inputs) {
  if (NodeOf(c).type != "Attention") return "";
  for (const NamedTensor& input : inputs) {
    for (const double value : input.values.data) {
      if (!std::isfinite(value))
        return input.name +
               " has a NaN or an infinity, which Attention reads even where it is masked";
    }
  }
  return "";
}

OnnxNode OnnxNodeOf(const Case& c, const Tensors& inputs) {
  OnnxNode node = NodeOf(c);
  for (const NamedTensor& input : inputs) node.inputs.push_back({input});
  if (c.name() != Attention::kName) return node;
  const auto& op = fast::StructOf<Attention>(c);
  if (IsPlain(op)) return node;
  if (op.with.Has("bias")) {
    MaskBias(op, node.inputs.back().tensor);
  } else {
    AddMask(op, node);
  }
  return node;
}

}  // namespace sextant::tools

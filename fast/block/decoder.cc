#include "reference/block/decoder.h"

#include "fast/attention/soft_cap.h"
#include "fast/block/decoder_block.h"
#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/layer/embedding.h"
#include "fast/layer/linear.h"
#include "fast/layer/rms_norm.h"

namespace sextant::fast {
namespace {

// The stacked weights of all blocks; [l] is the part of block l.
template <class E>
struct Stack {
  std::vector<E> all;
  size_t part = 0;
  Stack(const Tensor<double>& tensor, size_t L)
      : all(ToElements<E>(tensor)), part(L == 0 ? 0 : all.size() / L) {}
  std::span<const E> operator[](size_t l) const { return std::span(all).subspan(l * part, part); }
};

// The weights of all blocks.
template <Element T>
struct Stacks {
  Stack<Computed<T>> attn_norm, mlp_norm;
  Stack<T> wq, wk, wv, wo, gate, up, down;

  Stacks(const Tensors& inputs, size_t L)
      : attn_norm(Find(inputs, "attn_norm").values, L),
        mlp_norm(Find(inputs, "mlp_norm").values, L),
        wq(Find(inputs, "wq").values, L),
        wk(Find(inputs, "wk").values, L),
        wv(Find(inputs, "wv").values, L),
        wo(Find(inputs, "wo").values, L),
        gate(Find(inputs, "gate").values, L),
        up(Find(inputs, "up").values, L),
        down(Find(inputs, "down").values, L) {}
  BlockArrays<T> operator[](size_t l) const {
    return {.attn_norm = attn_norm[l],
            .mlp_norm = mlp_norm[l],
            .wq = wq[l],
            .wk = wk[l],
            .wv = wv[l],
            .wo = wo[l],
            .gate = gate[l],
            .up = up[l],
            .down = down[l]};
  }
};

// The input of the first block, and the outputs of the L blocks.
template <Element T>
std::vector<std::vector<T>> StatesOf(const Decoder& op, const BlockExtents& n, size_t L,
                                     const Tensors& inputs) {
  const Stacks<T> stacks(inputs, L);
  std::vector<std::vector<T>> states{std::vector<T>(n.S * n.M)};
  const std::vector<T> table = ToElements<T>(Find(inputs, "table").values);
  GatherRows<T>({.rows = table.data(), .M = n.M, .scale = op.embedding_scale},
                ToIntegers(Find(inputs, "token").values), states[0].data());
  for (size_t l = 0; l < L; ++l) {
    states.push_back(
        RunBlock<T>(op, QkNorm::kNone, n, states.back(), Find(inputs, "position").values, stacks[l])
            .y);
  }
  return states;
}

// The logits. The last product is computed and returned in Computed<T>.
template <Element T>
std::vector<Computed<T>> LogitsOf(const Decoder& op, const BlockExtents& n, size_t V,
                                  std::vector<T> state, const Tensors& inputs) {
  using Wide = Computed<T>;
  const auto last_norm = ToElements<Wide>(Find(inputs, "last_norm").values);
  const auto row = static_cast<ptrdiff_t>(n.M);
  NormalizeRows<T>({.N = n.S,
                    .M = n.M,
                    .x_row = row,
                    .y_row = row,
                    .eps = op.eps,
                    .unit_offset = op.unit_offset},
                   state.data(), last_norm.data(), state.data());
  std::vector<Wide> read, logits(n.S * V), scratch(kLinearScratch);
  for (const T x : state) read.push_back(static_cast<Wide>(ToDouble(x)));
  const auto head = ToElements<Wide>(Find(inputs, "head").values);
  ApplyLinear<Wide>({.N = n.S, .F = V, .K = n.M}, read.data(), head.data(), nullptr, logits.data(),
                    scratch.data());
  if (op.logit_cap) ApplySoftCap<Wide>(*op.logit_cap, logits.data(), logits.data(), logits.size());
  return logits;
}

Tensors RunDecoder(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<Decoder>(c);
  const size_t L = ExtentOf(c, "L"), V = ExtentOf(c, "V");
  const BlockExtents n{.S = ExtentOf(c, "S"),
                       .M = ExtentOf(c, "M"),
                       .H = ExtentOf(c, "H"),
                       .K = ExtentOf(c, "K"),
                       .D = ExtentOf(c, "D"),
                       .F = ExtentOf(c, "F")};
  return WithElement(c.dtype(), [&]<class T>() -> Tensors {
    const auto states = StatesOf<T>(op, n, L, inputs);
    const auto logits = LogitsOf<T>(op, n, V, states.back(), inputs);
    std::vector<T> all;
    for (const std::vector<T>& state : states) all.insert(all.end(), state.begin(), state.end());
    return {ToTensor("logits", {n.S, V}, logits), ToTensor("states", {L + 1, n.S, n.M}, all)};
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<Decoder>() {
  return {DeclinesMixedTypes, RunDecoder};
}

}  // namespace sextant::fast

#include "reference/block/decoder.h"

#include "fast/block/decoder_block.h"
#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/layer/activation.h"
#include "fast/layer/embedding.h"
#include "fast/layer/linear.h"
#include "fast/layer/rms_norm.h"

namespace sextant::fast {
namespace {

// A stacked weight, from which every block takes its part.
template <class E>
struct Stack {
  std::vector<E> all;
  size_t part = 0;
  Stack(const Tensor<double>& tensor, size_t L)
      : all(ToElements<E>(tensor)), part(L == 0 ? 0 : all.size() / L) {}
  std::span<const E> operator[](size_t l) const { return std::span(all).subspan(l * part, part); }
};

Tensors Run(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<Decoder>(c);
  const auto values = [&](const char* name) -> const Tensor<double>& {
    return Find(inputs, name).values;
  };
  const size_t S = ExtentOf(c, "S"), M = ExtentOf(c, "M"), L = ExtentOf(c, "L");
  const size_t V = ExtentOf(c, "V");
  const BlockExtents n{.S = S,
                       .M = M,
                       .H = ExtentOf(c, "H"),
                       .K = ExtentOf(c, "K"),
                       .D = ExtentOf(c, "D"),
                       .F = ExtentOf(c, "F")};
  return WithElement(c.dtype(), [&]<class T>() -> Tensors {
    using Wide = Computed<T>;
    const Stack<Wide> attn_norm(values("attn_norm"), L), mlp_norm(values("mlp_norm"), L);
    const Stack<T> wq(values("wq"), L), wk(values("wk"), L), wv(values("wv"), L),
        wo(values("wo"), L), gate(values("gate"), L), up(values("up"), L), down(values("down"), L);
    std::vector<T> state(S * M), states;
    const std::vector<T> table = ToElements<T>(values("table"));
    GatherRows<T>({.rows = table.data(), .M = M, .scale = op.embedding_scale},
                  ToIntegers(values("token")), state.data());
    states.insert(states.end(), state.begin(), state.end());
    for (size_t l = 0; l < L; ++l) {
      state = RunBlock<T>(op, QkNorm::kNone, n, state, values("position"),
                          {.attn_norm = attn_norm[l],
                           .mlp_norm = mlp_norm[l],
                           .wq = wq[l],
                           .wk = wk[l],
                           .wv = wv[l],
                           .wo = wo[l],
                           .gate = gate[l],
                           .up = up[l],
                           .down = down[l]})
                  .y;
      states.insert(states.end(), state.begin(), state.end());
    }
    const auto last_norm = ToElements<Wide>(values("last_norm"));
    const auto row = static_cast<ptrdiff_t>(M);
    NormalizeRows<T>(
        {.N = S, .M = M, .x_row = row, .y_row = row, .eps = op.eps, .unit_offset = op.unit_offset},
        state.data(), last_norm.data(), state.data());
    // Logits are wide: the last product is taken and answered in the type that computes.
    std::vector<Wide> read, logits(S * V), scratch(kLinearScratch);
    for (const T x : state) read.push_back(static_cast<Wide>(ToDouble(x)));
    const auto head = ToElements<Wide>(values("head"));
    ApplyLinear<Wide>({.N = S, .F = V, .K = M}, read.data(), head.data(), nullptr, logits.data(),
                      scratch.data());
    if (op.logit_cap) CapSoftly<Wide>(*op.logit_cap, logits.data(), logits.data(), logits.size());
    return {ToTensor("logits", {S, V}, logits), ToTensor("states", {L + 1, S, M}, states)};
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<Decoder>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast

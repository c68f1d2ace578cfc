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

// The input of the first block, and the outputs of the L blocks.
template <Element T>
std::vector<std::vector<T>> StatesOf(const Decoder& op, const BlockExtents& n, size_t L,
                                     const Tensors& inputs) {
  std::vector<std::vector<T>> states{std::vector<T>(n.S * n.M)};
  const std::vector<T> table = ToElements<T>(Find(inputs, "table").values);
  GatherRows<T>({.rows = table.data(), .M = n.M, .scale = op.embedding_scale},
                ToIntegers(Find(inputs, "token").values), states[0].data());
  for (size_t l = 0; l < L; ++l) {
    const auto of_block = [l](const Tensor<double>& stack) { return PartOf(stack, l); };
    const auto weights = NamedElements<BlockWeights<T>>(inputs, of_block);
    states.push_back(RunBlock<T>(op, n, states.back(), Find(inputs, "position").values, weights).y);
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
  const BlockExtents n = BlockExtentsOf(c);
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

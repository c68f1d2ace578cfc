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

// states[L+1,S,M]: the input of the first block, and the outputs of the L blocks.
template <Element T>
void ComputeStates(const Decoder& op, const BlockExtents& n, size_t L, const StoredTensors& inputs,
                   T* states) {
  const Tensor<double> position = ValuesOf(*FindInput(inputs, "position"));
  const size_t size = n.S * n.M;
  GatherRows<T>(
      {.rows = FindInput(inputs, "table")->As<T>(), .M = n.M, .scale = op.embedding_scale},
      ToIntegers(*FindInput(inputs, "token")), states);
  for (size_t l = 0; l < L; ++l, states += size) {
    const auto weights = NamedElements<BlockWeights<T>>(inputs, l, L);
    std::ranges::copy(RunBlock<T>(op, n, {states, size}, position, weights).y, states + size);
  }
}

// The logits of the last state. The last product is computed and returned in Computed<T>.
template <Element T>
void ComputeLogits(const Decoder& op, const BlockExtents& n, size_t V, const StoredTensors& inputs,
                   const T* last, Computed<T>* logits) {
  using Wide = Computed<T>;
  const Elements<Wide> last_norm(inputs, "last_norm"), head(inputs, "head");
  const auto row = static_cast<ptrdiff_t>(n.M);
  std::vector<T> normed(n.S * n.M);
  NormalizeRows<T>({.N = n.S,
                    .M = n.M,
                    .x_row = row,
                    .y_row = row,
                    .eps = op.eps,
                    .unit_offset = op.unit_offset},
                   last, last_norm.data(), normed.data());
  std::vector<Wide> read;
  for (const T x : normed) read.push_back(static_cast<Wide>(ToDouble(x)));
  ApplyLinear<Wide>({.N = n.S, .F = V, .K = n.M}, read.data(), head.data(), nullptr, logits);
  if (op.logit_cap) ApplySoftCap<Wide>(*op.logit_cap, logits, logits, n.S * V);
}

StoredTensors RunDecoder(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<Decoder>(c);
  const size_t L = ExtentOf(c, "L");
  const BlockExtents n = BlockExtentsOf(c);
  StoredTensors outputs = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    T* const states = outputs[1].As<T>();
    ComputeStates<T>(op, n, L, inputs, states);
    ComputeLogits<T>(op, n, ExtentOf(c, "V"), inputs, states + L * n.S * n.M,
                     outputs[0].As<Computed<T>>());
  });
  return outputs;
}

}  // namespace

template <>
CaseKernel MakeKernel<Decoder>() {
  return {DeclinesMixedTypes, RunDecoder};
}

}  // namespace sextant::fast

#include "reference/layer/gated_quantize.h"

#include "fast/kernel/kernel.h"
#include "fast/layer/gated.h"
#include "fast/layer/quantized_rows.h"

namespace sextant::fast {
namespace {

StoredTensors RunGatedQuantize(const Case& c, const StoredTensors& inputs) {
  const auto& op = StructOf<GatedQuantize>(c);
  const size_t N = ExtentOf(c, "N"), G = ExtentOf(c, "G"), M = ExtentOf(c, "M"), row = G * M;
  const auto step = static_cast<ptrdiff_t>(row);
  GateRows one{1, row, step, step, step, op.kind, op.Beta()};
  one.plus_one = op.plus_one;
  if (op.Gated::limit) one.limit = *op.Gated::limit;
  return QuantizedRows(c, op, inputs, {N, 1, G, M}, [&]<class T>(size_t n, T* y) {
    Gate(one, inputs[0].As<T>() + n * row, inputs[1].As<T>() + n * row, y);
    return y;
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<GatedQuantize>() {
  return {DeclinesMixedTypes, RunGatedQuantize};
}

}  // namespace sextant::fast

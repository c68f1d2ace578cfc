#include "reference/layer/rms_norm_quantize.h"

#include "fast/kernel/kernel.h"
#include "fast/layer/add_rms_norm.h"
#include "fast/layer/quantized_rows.h"
#include "fast/layer/rms_norm.h"

namespace sextant::fast {
namespace {

StoredTensors RunRmsNormQuantize(const Case& c, const StoredTensors& inputs) {
  const auto& op = StructOf<RmsNormQuantize>(c);
  const size_t N = ExtentOf(c, "N"), G = ExtentOf(c, "G"), M = ExtentOf(c, "M"), row = G * M;
  const StoredTensor* const residual = FindInput(inputs, "residual");
  return QuantizedRows(c, op, inputs, {N, 1, G, M}, [&]<class T>(size_t n, T* y) {
    const T* const x = inputs[0].As<T>() + n * row;
    const auto* const weight = inputs[1].As<Computed<T>>();
    if (residual) {
      std::vector<T> sum(row);
      AddAndNormalizeRows({1, row, op.eps, op.unit_offset}, x, residual->As<T>() + n * row, weight,
                          AddedOutputs<T>{y, sum.data()});
    } else {
      const auto step = static_cast<ptrdiff_t>(row);
      NormalizeRows({1, row, step, step, op.eps, op.unit_offset}, x, weight, y);
    }
    return y;
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<RmsNormQuantize>() {
  return {DeclinesMixedTypes, RunRmsNormQuantize};
}

}  // namespace sextant::fast

#include "reference/position/temperature_scale.h"

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/position/scale_rows.h"

namespace sextant::fast {
namespace {

// factor = 1 + beta ln(1 + n). Error of the second term: 36 units of 2^-106.
Tensors RunTemperatureScale(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<TemperatureScale>(c);
  std::vector<DoubleDouble> factor;
  for (const double p : inputs[1].values.data) {
    factor.push_back(log(DoubleDouble(1 + op.Steps(p))) * op.beta + 1.0);
  }
  return ScaleByPosition(c.dtype(), inputs[0].values, factor);
}

}  // namespace

template <>
CaseKernel MakeKernel<TemperatureScale>() {
  return {DeclinesMixedTypes, RunTemperatureScale};
}

}  // namespace sextant::fast

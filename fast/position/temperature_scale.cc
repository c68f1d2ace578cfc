#include "reference/position/temperature_scale.h"

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/position/scale_rows.h"

namespace sextant::fast {
namespace {

// factor = 1 + beta ln(1 + n). Error of the second term: 36 units of 2^-106.
StoredTensors RunTemperatureScale(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<TemperatureScale>(c);
  std::vector<DoubleDouble> factor;
  for (const double p : ValuesOf(inputs[1]).data) {
    factor.push_back(log(DoubleDouble(1 + op.Steps(p))) * op.beta + 1.0);
  }
  return ScaleByPosition(inputs[0], factor);
}

}  // namespace

template <>
CaseKernel MakeKernel<TemperatureScale>() {
  return {DeclinesMixedTypes, RunTemperatureScale};
}

}  // namespace sextant::fast

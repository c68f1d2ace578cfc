#include "reference/position/log_n_scale.h"

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/position/scale_rows.h"

namespace sextant::fast {
namespace {

// factor = ln(p + 1) / ln L for p + 1 > L, else 1. Error in units of 2^-106: 2 * 33 + 16.
StoredTensors RunLogNScale(const Case& c, const StoredTensors& inputs) {
  const int64_t L = StructOf<LogNScale>(c).original_max_position_embeddings;
  const DoubleDouble log_L = log(DoubleDouble(L));
  std::vector<DoubleDouble> factor;
  for (const double p : ValuesOf(inputs[1]).data) {
    const int64_t n = static_cast<int64_t>(p) + 1;
    factor.push_back(n <= L ? 1.0 : log(DoubleDouble(n)) / log_L);
  }
  return ScaleByPosition(inputs[0], factor);
}

}  // namespace

template <>
CaseKernel MakeKernel<LogNScale>() {
  return {DeclinesMixedTypes, RunLogNScale};
}

}  // namespace sextant::fast

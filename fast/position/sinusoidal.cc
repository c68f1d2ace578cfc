#include "reference/position/sinusoidal.h"

#include <algorithm>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/rope/rope_table.h"

namespace sextant::fast {
namespace {

// base^-(2k/M), or base^-(2k/max(M-2, 2))
std::vector<DoubleDouble> FrequenciesOf(const Sinusoidal& op) {
  const int64_t M = op.M.value;
  const int64_t n = op.denominator == Denominator::kPaper ? M : std::max<int64_t>(M - 2, 2);
  std::vector<DoubleDouble> frequencies;
  for (int64_t k = 0; k < M / 2; ++k) frequencies.push_back(Power(op.base, -2 * k, n));
  return frequencies;
}

StoredTensors RunSinusoidal(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<Sinusoidal>(c);
  const auto M = static_cast<size_t>(op.M.value), half = M / 2;
  const std::vector<double> position = ValuesOf(inputs[0]).data;
  const bool interleaved = op.layout == Layout::kInterleaved;
  StoredTensors outputs = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    std::vector<T> cosine(position.size() * half), sine(cosine.size());
    T* const y = outputs[0].As<T>();
    FillTable<T>(position, FrequenciesOf(op), 1.0, cosine.data(), sine.data());
    for (size_t s = 0; s < position.size(); ++s) {
      for (size_t k = 0; k < half; ++k) {
        y[s * M + (interleaved ? 2 * k : k)] = sine[s * half + k];
        y[s * M + (interleaved ? 2 * k + 1 : half + k)] = cosine[s * half + k];
      }
    }
  });
  return outputs;
}

}  // namespace

template <>
CaseKernel MakeKernel<Sinusoidal>() {
  return {DeclinesMixedTypes, RunSinusoidal};
}

}  // namespace sextant::fast

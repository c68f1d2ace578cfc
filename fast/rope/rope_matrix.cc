#include "reference/rope/rope_matrix.h"

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/rope/rope_frequencies.h"
#include "fast/rope/rope_table.h"

namespace sextant::fast {
namespace {

// -x. The highest bit of all types is the sign.
template <Element T>
T Negated(T x) {
  if constexpr (Narrow<T>) {
    return {static_cast<uint16_t>(x.bits ^ 0x8000)};
  } else {
    return -x;
  }
}

StoredTensors RunRopeMatrix(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<RopeMatrix>(c);
  const auto D = static_cast<size_t>(op.D.value), half = D / 2;
  const std::vector<double> position = ValuesOf(inputs[0]).data;
  const fast::Frequencies frequencies = ScaledFrequencies(op.Frequencies());
  StoredTensors outputs = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    std::vector<T> cosine(position.size() * half), sine(cosine.size());
    FillTable<T>(position, frequencies.of_pair, frequencies.amplitude, cosine.data(), sine.data());
    std::fill_n(outputs[0].As<T>(), position.size() * D * D, FromDouble<T>(0));
    for (size_t s = 0; s < position.size(); ++s) {
      T* m = outputs[0].As<T>() + s * D * D;
      for (size_t k = 0; k < half; ++k) {
        const auto [i, j] = ChannelsOf(op.pairing, k, D);
        m[i * D + i] = m[j * D + j] = cosine[s * half + k];
        m[j * D + i] = sine[s * half + k];
        m[i * D + j] = Negated(sine[s * half + k]);
      }
    }
  });
  return outputs;
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeMatrix>() {
  return {DeclinesMixedTypes, RunRopeMatrix};
}

}  // namespace sextant::fast

#include "fast/attention/attend.h"

#include <cmath>
#include <memory>

#include "fast/attention/attention_tiles.h"
#include "fast/kernel/typed.h"

namespace sextant::fast {
namespace {

// From this number of queries per key head on, tiles are faster although keys and values must be
// packed (measured with AVX-512: f32 20, bf16 14).
template <class T>
constexpr int64_t kManyQueries = Narrow<T> ? 14 : 20;

}  // namespace

template <Element T>
void Attend(const AttendInputs<T>& in, T* y, Computed<T>* lse) {
  const AttentionAttributes& op = *in.attributes;
  const int64_t of_head = op.K.value > 0 ? QueriesOfKeyHead(op) : 0;
  const bool tiles = of_head >= kManyQueries<T>;
  const Units all = tiles ? BlocksOf(in) : QueriesOf(in);
  const auto attend = [&](const Units& units) {
    const size_t size = tiles ? TilesScratchOf(in) : ScratchOf(in);
    const auto scratch = std::make_unique_for_overwrite<Computed<T>[]>(size);
    if (tiles) {
      AttendTiles(in, units, y, lse, scratch.get());
    } else {
      AttendRows(in, units, y, lse, scratch.get());
    }
  };
  if (!tiles) {
    // The queries of a key head take turns at its keys, so they stay together if there are enough
    // heads for all threads.
    const bool together = of_head > 0 && op.B.value * op.K.value >= 2 * ThreadsHere();
    InRowParts(
        all.count, static_cast<size_t>(op.T.value) * (in.D + in.E),
        [&](size_t first, size_t count) {
          attend({first, count});
        },
        together ? static_cast<size_t>(of_head) : 1);
  } else if (ThreadsHere() == 1) {
    attend(all);
  } else {  // with a causal mask blocks differ in their work
    InParallelHere(all.count, [&](size_t i) { attend({i, 1}); });
  }
}

template void Attend(const AttendInputs<double>&, double*, double*);
template void Attend(const AttendInputs<float>&, float*, float*);
template void Attend(const AttendInputs<F16>&, F16*, float*);
template void Attend(const AttendInputs<BF16>&, BF16*, float*);

double ScaleOf(const AttentionAttributes& attributes, size_t D) {
  return attributes.scale ? *attributes.scale : 1 / std::sqrt(static_cast<double>(D));
}

void AttendCase(const AttentionAttributes& attributes, const AttentionTensors& inputs,
                StoredTensor& y, StoredTensor& lse) {
  WithElement(y.dtype(), [&]<class T>() {
    const size_t D = inputs.q.shape()[3];
    const AttendInputs<T> in{.attributes = &attributes,
                             .D = D,
                             .E = inputs.v.shape()[3],
                             .q = inputs.q.As<T>(),
                             .k = inputs.k.As<T>(),
                             .v = inputs.v.As<T>(),
                             .bias = inputs.bias ? inputs.bias->As<T>() : nullptr,
                             .sink = inputs.sink ? inputs.sink->As<Computed<T>>() : nullptr,
                             .scale = ScaleOf(attributes, D),
                             .add_bias = inputs.add_bias};
    Attend(in, y.As<T>(), lse.As<Computed<T>>());
  });
}

}  // namespace sextant::fast

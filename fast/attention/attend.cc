#include "fast/attention/attend.h"

#include "fast/attention/attention_tiles.h"

namespace sextant::fast {
namespace {

// From this number of queries per key head on, tiles are faster although keys and values must be
// packed (measured with AVX-512: f32 5, bf16 6).
constexpr int64_t kFewQueries = 5;
bool PrefersTiles(const AttentionAttributes& op) {
  return op.K.value > 0 && op.H.value / op.K.value * op.S.value >= kFewQueries;
}

}  // namespace

template <Element T>
size_t AttendScratchOf(const AttendInputs<T>& in) {
  return PrefersTiles(*in.attributes) ? TilesScratchOf(in) : ScratchOf(in);
}

template <Element T>
void Attend(const AttendInputs<T>& in, T* y, Computed<T>* lse, Computed<T>* scratch) noexcept {
  if (PrefersTiles(*in.attributes)) {
    AttendTiles(in, y, lse, scratch);
  } else {
    AttendRows(in, y, lse, scratch);
  }
}

template size_t AttendScratchOf(const AttendInputs<double>&);
template size_t AttendScratchOf(const AttendInputs<float>&);
template size_t AttendScratchOf(const AttendInputs<F16>&);
template size_t AttendScratchOf(const AttendInputs<BF16>&);
template void Attend(const AttendInputs<double>&, double*, double*, double*) noexcept;
template void Attend(const AttendInputs<float>&, float*, float*, float*) noexcept;
template void Attend(const AttendInputs<F16>&, F16*, float*, float*) noexcept;
template void Attend(const AttendInputs<BF16>&, BF16*, float*, float*) noexcept;

}  // namespace sextant::fast

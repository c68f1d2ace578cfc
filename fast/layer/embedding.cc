#include "fast/layer/embedding.h"

#include "fast/simd/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/layer/embedding.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/simd/element-inl.h"
#include "reference/layer/embedding.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

template <class T>
HWY_INLINE void Scale(const T* x, Computed<T> scale, T* y, size_t n) {
  const hn::ScalableTag<Computed<T>> d;
  WriteEach(d, n, y, [&](auto dk, size_t k) SEXTANT_INLINE {
    return hn::Mul(Read(dk, x + k), hn::Set(dk, scale));
  });
}

template <class T>
HWY_INLINE void GatherAll(const EmbeddingTable<T>& table, std::span<const int64_t> token, T* y,
                          bool stream) {
  const size_t M = table.M, bytes = M * sizeof(T);
  const auto scale = static_cast<Computed<T>>(table.scale);
  for (size_t s = 0; s < token.size(); ++s, y += M) {
    const auto row_of = [&](size_t at) { return table.rows + static_cast<size_t>(token[at]) * M; };
    const T *row = row_of(s), *next = row_of(std::min(s + 1, token.size() - 1));
    if (table.scale != 1) {
      WriteRow(M, stream, y, [&](size_t k, size_t n, T* to) SEXTANT_INLINE {
        Scale(row + k, scale, to, n);
        return next + k;
      });
    } else if (stream) {
      StreamCopy(row, y, bytes, next);
    } else {
      std::memcpy(y, row, bytes);
    }
  }
}

void GatherElements(DType dtype, const void* table, std::span<const int64_t> token, UntypedOutput y,
                    bool stream) {
  WithElement(dtype, [=]<class T>() HWY_ATTR {
    GatherAll<T>(*static_cast<const EmbeddingTable<T>*>(table), token, y, stream);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(GatherElements);

template <Element T>
void GatherRows(const EmbeddingTable<T>& table, std::span<const int64_t> token, T* y) {
  const size_t bytes = table.M * sizeof(T);
  if (bytes == 0) return;  // the pointers may be null
  const bool stream = ShouldStream(2 * token.size() * bytes);
  InRowParts(token.size(), table.M, [&](size_t first, size_t count) {
    HWY_DYNAMIC_DISPATCH(GatherElements)
    (kDType<T>, &table, token.subspan(first, count), y + first * table.M, stream);
    if (stream) StreamFence();
  });
}

template void GatherRows(const EmbeddingTable<double>&, std::span<const int64_t>, double*);
template void GatherRows(const EmbeddingTable<float>&, std::span<const int64_t>, float*);
template void GatherRows(const EmbeddingTable<F16>&, std::span<const int64_t>, F16*);
template void GatherRows(const EmbeddingTable<BF16>&, std::span<const int64_t>, BF16*);

namespace {

StoredTensors RunEmbedding(const Case& c, const StoredTensors& inputs) {
  const Embedding op = StructOf<Embedding>(c);
  const size_t S = ExtentOf(c, "S"), V = ExtentOf(c, "V"), M = ExtentOf(c, "M");
  const Tensor<double> tokens = ValuesOf(inputs[0]);
  for (size_t s = 0; s < S; ++s) RowOfToken(tokens, s, V);
  StoredTensors y = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    GatherRows<T>({inputs[1].As<T>(), M, op.scale}, ToIntegers(inputs[0]), y[0].As<T>());
  });
  return y;
}

}  // namespace

template <>
CaseKernel MakeKernel<Embedding>() {
  return {DeclinesMixedTypes, RunEmbedding};
}

}  // namespace sextant::fast
#endif

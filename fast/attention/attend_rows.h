// Attention for few queries of a key head, in all forms of reference/: with bias, sink and masks.
// Vectors run along channels and keys; there are no tiles. The formula:
// reference/attention/attention.h.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>

#include "fast/kernel/typed.h"
#include "fast/simd/element.h"
#include "reference/attention/attention_attributes.h"

namespace sextant::fast {

// Row-major q[B,H,S,D], k[B,K,T,D], v[B,K,T,E], bias[B,H,S,T] and sink[H] or null.
template <Element T>
struct AttendInputs {
  const AttentionAttributes* attributes = nullptr;  // include the dimensions B, H, K, S and T
  size_t D = 0, E = 0;
  const T *q = nullptr, *k = nullptr, *v = nullptr, *bias = nullptr;
  const Computed<T>* sink = nullptr;
  double scale = 1;
  std::optional<AddBias> add_bias{};
};

inline constexpr size_t kQueriesTogether = 8;  // at most, of one key head

// The queries of a batch that read the same key head follow each other. Needs key heads.
inline int64_t QueriesOfKeyHead(const AttentionAttributes& op) {
  return op.H.value / op.K.value * op.S.value;
}

// Elements of scratch memory that AttendRows needs.
template <Element T>
size_t ScratchOf(const AttendInputs<T>& in) {
  return kQueriesTogether * (in.D + in.E + static_cast<size_t>(in.attributes->T.value));
}

// Units of a computation that are independent: `count` from `first` on.
struct Units {
  size_t first = 0, count = 0;
};
// All queries.
template <Element T>
Units QueriesOf(const AttendInputs<T>& in) {
  const AttentionAttributes& op = *in.attributes;
  return {0, static_cast<size_t>(op.B.value * op.H.value * op.S.value)};
}

// The rows of these queries of y[B,H,S,E] and lse[B,H,S]. Computes in f32 (f64 for f64) and rounds
// once. Masked keys are not read. If all keys of a query are masked, y is 0 and lse is -infinity.
// Error: that of the recipe `exact_table`.
template <Element T>
void AttendRows(const AttendInputs<T>& in, const Units& queries, T* y, Computed<T>* lse,
                Computed<T>* scratch) noexcept;

// The rows of these queries of scores[B,H,S,T], of all keys, before the softmax.
template <Element T>
void ScoreRows(const AttendInputs<T>& in, const Units& queries, T* scores,
               Computed<T>* scratch) noexcept;

}  // namespace sextant::fast

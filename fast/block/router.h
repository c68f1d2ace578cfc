// Fast router of a mixture of experts. The formula: reference/block/router.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fast/simd/element.h"
#include "reference/block/router.h"

namespace sextant::fast {

// The memory of one thread, for a row of experts.
template <Element T>
struct RouterScratch {
  explicit RouterScratch(size_t experts)
      : scores(experts), by(experts), group_numbers(experts), group_indices(experts) {}
  std::vector<Computed<T>> scores, by;  // by: what experts are chosen by
  std::vector<Computed<T>> group_numbers;
  std::vector<int64_t> group_indices;
};

// indices, weights: op.K elements, the best expert first, of equal ones that with the lower index.
// bias: null or op.E elements. Scores are computed as softmax and sigmoid are
// (fast/attention/softmax.h, fast/layer/activation.h); the sum of the weights is taken in the order
// of the slots.
template <Element T>
void RouteRow(const Router& op, const T* logits, const Computed<T>* bias, int64_t* indices,
              Computed<T>* weights, RouterScratch<T>& scratch);

}  // namespace sextant::fast

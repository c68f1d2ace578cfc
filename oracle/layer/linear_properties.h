// Properties of linear layers and defects of matrix products, for layers with and without a bias.
#pragma once

#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/property/property.h"

namespace sextant::oracle {

// For operations with the inputs x[N,M] and weight[F,M], optionally bias[F], and the output y[N,F].
std::vector<Property> LinearProperties();
std::vector<Defect> LinearDefects();

// One mutation of a matrix product.
enum class ProductMutation {
  kNone,
  kRoundedProducts,  // each product is rounded to bf16 before it is added
  kLastBlockOnly,    // only the last block of 16 columns is added
  kSumCarriedOver,   // the sum starts with that of the previous row
  kLastColumn,       // the last column of x is not added
  kRowsOfX,          // rows of x are read with a step of M + 1
};

// y = x weight^T with the mutation.
template <class Real>
void MultiplyMutated(ProductMutation mutation, const Tensor<Real>& x, const Tensor<Real>& weight,
                     Tensor<Real>& y) {
  constexpr size_t kBlock = 16;
  const size_t N = x.shape[0], F = weight.shape[0], M = x.shape[1];
  for (size_t n = 0; n < N; ++n) {
    for (size_t f = 0; f < F; ++f) {
      const ScopedStep at(Step::kDot);
      std::vector<Real> terms;
      for (size_t m = 0; m < M; ++m) {
        const bool in_last_block = m / kBlock == (M - 1) / kBlock;
        if (mutation == ProductMutation::kLastBlockOnly && !in_last_block) continue;
        if (mutation == ProductMutation::kLastColumn && m + 1 == M) continue;
        const size_t row = mutation == ProductMutation::kRowsOfX ? n * (M + 1) : n * M;
        const Real product = x.data[(row + m) % x.data.size()] * weight(f, m);
        const bool rounds = mutation == ProductMutation::kRoundedProducts;
        terms.push_back(rounds ? ConvertedTo(DType::kBF16, product) : product);
      }
      if (mutation == ProductMutation::kSumCarriedOver && n > 0) terms.push_back(y(n - 1, f));
      y(n, f) = SumOf(terms);
    }
  }
}

}  // namespace sextant::oracle

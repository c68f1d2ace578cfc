// Operands and sizes of matrix products; fast/simd/matmul-inl.h computes them.
#pragma once

#include <cstddef>

namespace sextant::fast {

// A matrix in memory; row and column are the steps in elements. Row-major: {data, width, 1}; its
// transpose: {data, 1, width}.
template <class T>
struct Matrix {
  const T* data = nullptr;
  ptrdiff_t row = 0, column = 1;
  const T* at(size_t i, size_t j) const {
    return data + static_cast<ptrdiff_t>(i) * row + static_cast<ptrdiff_t>(j) * column;
  }
};

// Sizes of the product of a[N,K] with the transpose of b[F,K].
struct ProductShape {
  size_t N = 0, F = 0, K = 0;
};

// Elements of scratch memory for a product of any shape on any instruction set.
inline constexpr size_t kBlockK = 256, kBlockRows = 128, kBlockColumns = 512;
inline constexpr size_t kScratchAlign = 64;  // bytes; the caller's scratch may be unaligned
inline constexpr size_t kProductScratch = kBlockK * (kBlockRows + kBlockColumns) + kScratchAlign;

}  // namespace sextant::fast

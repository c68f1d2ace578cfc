// Tests of kernels that map rows to rows, on every instruction set: the error at every width around
// the vectors, steps between rows, the result in place of x, and streaming stores.
#pragma once

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {

// A Kernel has
//   Element, Rows              the type of x and y; N rows of M elements in steps x_row and y_row
//   kReach                     random numbers x lie between -kReach and kReach
//   Kernel(M)                  its other arguments, for rows of M elements
//   Run(rows, x, y)            y of x
//   Expect(rows, x, y)         expects the error bound of its header

// N rows of M elements without gaps.
template <class Kernel>
typename Kernel::Rows DenseRows(size_t N, size_t M) {
  typename Kernel::Rows rows{.N = N, .M = M};
  rows.x_row = rows.y_row = static_cast<ptrdiff_t>(M);
  return rows;
}

// Expects that the rows of numbers between low and high are within the bound.
template <class Kernel>
void ExpectRows(const typename Kernel::Rows& rows, double low = -Kernel::kReach,
                double high = Kernel::kReach) {
  using T = typename Kernel::Element;
  const Kernel kernel(rows.M);
  const Guarded<T> x = Random(rows.M).Fill<T>(rows.N * rows.M, low, high);
  const Guarded<T> y = InPlaceToo(x, [&](const T* from, T* to) { kernel.Run(rows, from, to); });
  kernel.Expect(rows, x.data(), y.data());
}

template <class Kernel>
class KernelOfRows : public testing::Test {};
TYPED_TEST_SUITE_P(KernelOfRows);

TYPED_TEST_P(KernelOfRows, ErrorIsWithinItsBoundAtEveryWidth) {
  OnAllTargets([] {
    for (size_t M = 1; M <= 129; ++M)  // 2N + 1, N = 4 vectors of 16
      ExpectRows<TypeParam>(DenseRows<TypeParam>(2, M));
  });
}

TYPED_TEST_P(KernelOfRows, UsesTheGivenStepsAndWritesNothingBetweenRows) {
  using T = typename TypeParam::Element;
  auto rows = DenseRows<TypeParam>(3, 5);
  rows.x_row = 9;
  rows.y_row = 7;
  const TypeParam kernel(5);
  const Guarded<T> x = Random().Fill<T>(2 * 9 + 5, -TypeParam::kReach, TypeParam::kReach);
  OnAllTargets([&] {
    Guarded<T> y(2 * 7 + 5);
    const Guarded<T> untouched = y;
    kernel.Run(rows, x.data(), y.data());
    kernel.Expect(rows, x.data(), y.data());
    for (const size_t gap : {5, 6, 12, 13})
      EXPECT_EQ(std::memcmp(&y[gap], &untouched[gap], sizeof(T)), 0) << gap;
  });
}
REGISTER_TYPED_TEST_SUITE_P(KernelOfRows, ErrorIsWithinItsBoundAtEveryWidth,
                            UsesTheGivenStepsAndWritesNothingBetweenRows);

// Large enough for streaming stores.
template <class Kernel>
class SlowKernelOfRows : public testing::Test {};
TYPED_TEST_SUITE_P(SlowKernelOfRows);

TYPED_TEST_P(SlowKernelOfRows, GivesTheSameBitsWhenStreaming) {
  using T = typename TypeParam::Element;
  const auto rows = DenseRows<TypeParam>(5600 / sizeof(T), 5001);
  const TypeParam kernel(rows.M);
  InPlaceToo(Random().Fill<T>(rows.N * rows.M), [&](const T* x, T* y) { kernel.Run(rows, x, y); });
}
REGISTER_TYPED_TEST_SUITE_P(SlowKernelOfRows, GivesTheSameBitsWhenStreaming);

template <template <class> class Kernel>
using OfAllTypes = testing::Types<Kernel<double>, Kernel<float>, Kernel<F16>, Kernel<BF16>>;
template <template <class> class Kernel>
using OfStreamedTypes = testing::Types<Kernel<float>, Kernel<BF16>>;

}  // namespace sextant::fast

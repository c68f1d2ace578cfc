// Helpers for tests of kernels that map rows to rows.
#pragma once

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {

// Calls the kernel work(x, y) with random numbers and expects that the gaps between the rows of y
// do not change. `rows` has N rows of M elements at distances x_row and y_row.
template <class T, class Rows, class Work>
void OnRowsWithGaps(const Rows& rows, const Work& work) {
  const auto end = [&](ptrdiff_t step) {
    return (rows.N - 1) * static_cast<size_t>(step) + rows.M;
  };
  Random random;
  const Guarded<T> x = random.Fill<T>(end(rows.x_row));
  OnAllTargets([&] {
    Guarded<T> y(end(rows.y_row));
    const Guarded<T> untouched = y;
    work(x.data(), y.data());
    for (size_t i = 0; i < y.size(); ++i) {
      if (i % static_cast<size_t>(rows.y_row) < rows.M) continue;
      EXPECT_EQ(std::memcmp(&y[i], &untouched[i], sizeof(T)), 0) << i;
    }
  });
}

}  // namespace sextant::fast

// What tests of kernels share that go from rows to rows.
#pragma once

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {

// Calls `work(x, y)`, a kernel from rows to rows, on random numbers: what lies between the rows of
// y stays as it was. `rows` has N rows of M elements in steps of x_row and y_row.
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

// Sums of products in which a block of columns counts another number of times.
#pragma once

#include <vector>

#include "oracle/layer/measured/columns.h"

namespace sextant::oracle {

// The columns m with first <= m mod period < end; period M: one range. The sum of all products is
// multiplied by `factor`, and that of these columns by `times` besides.
struct ScaledColumns {
  size_t first = 0, end = 0, period = 1;
  double factor = 1, times = 1;
  Deviations deviations = {};

  bool Has(size_t m) const { return m % period >= first && m % period < end; }
  double TimesOf(size_t m) const { return Has(m) ? factor * times : factor; }
};

// Those that give all elements, with the fewest deviations; `with_factor`: any factor is tried,
// else
// 1. At least a few elements are needed. Empty if M is large: there are many ranges.
std::vector<ScaledColumns> FitScaledColumns(const std::vector<Products>& all, bool with_factor);

}  // namespace sextant::oracle

// A linear layer with another weight and another bias.
#pragma once

#include <functional>

#include "oracle/layer/measured/constant.h"

namespace sextant::oracle {

// Nothing is copied: the weight may be large.
struct Layer {
  std::function<double(size_t f, size_t m)> weight;
  std::function<double(size_t f)> bias;
  std::function<bool(size_t n)> has_bias = nullptr;  // null: every row has it
  Deviations deviations;

  double BiasAt(size_t n, size_t f) const { return has_bias && !has_bias(n) ? 0 : bias(f); }
};

}  // namespace sextant::oracle

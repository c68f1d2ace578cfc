// A linear layer with another weight and another bias.
#pragma once

#include <functional>
#include <optional>

#include "oracle/layer/measured/columns.h"
#include "oracle/layer/measured/constant.h"

namespace sextant::oracle {

// Nothing is copied: the weight may be large.
struct Layer {
  std::function<double(size_t f, size_t m)> weight;
  std::function<double(size_t f)> bias;
  // The column of the bias that element [n,f] of the answer has; empty: none. Null: f.
  std::function<std::optional<size_t>(size_t n, size_t f)> bias_column = nullptr;
  Deviations deviations;

  double BiasAt(size_t n, size_t f) const {
    const std::optional<size_t> column = bias_column ? bias_column(n, f) : f;
    return column ? bias(*column) : 0;
  }
  // The products of an element of the answer [N,F] to x [N,M], without the bias.
  Products ProductsOf(const Sample& sample, const Tensor<double>& x, size_t F) const {
    const size_t n = sample.at / F, f = sample.at % F;
    Products products{sample, 0, {0}};
    long double sum = 0;
    for (size_t m = 0; m < x.shape[1]; ++m) {
      sum += static_cast<long double>(x(n, m)) * weight(f, m);
      products.first.push_back(static_cast<double>(sum));
    }
    return products;
  }
};

}  // namespace sextant::oracle

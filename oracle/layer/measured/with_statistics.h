// Norms with any mean and divisor of each row.
#pragma once

#include <vector>

#include "oracle/layer/measured/means_and_divisors.h"
#include "reference/layer/layer_norm.h"
#include "reference/layer/rms_norm.h"

namespace sextant::oracle {

// The mean and the divisor of each row: formulas, or numbers.
struct RowStatistics {
  RowNumber mean, divisor;
  std::vector<double> means, divisors;  // numbers of all rows; empty: the formulas
  bool has_unit_offset = false;

  template <class Real>
  void Write(const Tensor<Real>& x, const Tensor<Real>& weight, const std::vector<Real>& bias,
             Tensor<Real>& y) const {
    const size_t M = x.shape[1];
    for (size_t n = 0; n < x.shape[0]; ++n) {
      const std::vector<Real> row(&x(n, 0), &x(n, 0) + M);
      const bool has_numbers = !means.empty();
      const Real m = has_numbers ? Real(means[n]) : RowNumberOf<Real>(mean, row)();
      const Real d = has_numbers ? Real(divisors[n]) : RowNumberOf<Real>(divisor, row)();
      for (size_t j = 0; j < M; ++j) {
        const Real w = has_unit_offset ? Real(1.0) + weight.data[j] : weight.data[j];
        y(n, j) = (row[j] - m) / d * w;
        if (!bias.empty()) y(n, j) = y(n, j) + bias[j];
      }
    }
  }
};

struct WithStatistics : RmsNorm {
  RowStatistics rows;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const {
    rows.Write(x, weight, {}, y);
  }
};
struct WithStatisticsAndBias : LayerNorm {
  RowStatistics rows;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, const Tensor<Real>& bias,
                  Tensor<Real>& y) const {
    rows.Write(x, weight, bias.data, y);
  }
};

}  // namespace sextant::oracle

// Normed rows of numbers in arrays (normed_row.h).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "reference/layer/normed_row.h"

namespace sextant {

// The weights of many rows.
class NormedRow<Counted>::Weights {
 public:
  explicit Weights(std::span<const Counted> weights);  // they must outlive this
  explicit Weights(const ExactSpan& weights);          // the same, in less time

 private:
  friend class NormedRow<Counted>;
  Counted operator[](size_t j) const {
    return weights_.empty() ? Counted(exact_.values[j], exact_.type) : weights_[j];
  }
  std::span<const Counted> weights_{};
  ExactSpan exact_{{}, DType::kF64};  // if weights_ is empty
  std::vector<double> ordinary_;      // 0 where a weight is no ordinary factor
  CountedArrays converted_;           // to the format of step weigh
};

// Arrays that rows of M elements use one after the other.
struct NormedRow<Counted>::Memory {
  explicit Memory(size_t M) : squares(M), size(M), ordinary(M), exact(M), zeros(M) {}
  // Numbers without errors.
  CountedSpan Copied(const ExactSpan& row) {
    std::ranges::copy(row.values, exact.begin());
    double* const zero = zeros.data();
    return {{exact.data(), zero, zero, zero, zero}, row.values.size(), row.type};
  }
  CountedArrays squares;
  std::vector<double> size, ordinary;  // |x| with its drift; 0 for a special case
  std::vector<double> exact, zeros;    // of Copied
};

}  // namespace sextant

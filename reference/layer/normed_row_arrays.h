// Normed rows of numbers in arrays (normed_row.h).
#pragma once

#include <span>
#include <vector>

#include "reference/layer/normed_row.h"

namespace sextant {

// The weights of many rows.
class NormedRow<Counted>::Weights {
 public:
  explicit Weights(std::span<const Counted> weights);  // they must outlive this

 private:
  friend class NormedRow<Counted>;
  std::span<const Counted> weights_;
  std::vector<double> ordinary_;  // 0 where a weight is no ordinary factor
  CountedArrays converted_;       // to the format of step weigh
};

// Arrays that rows of M elements use one after the other.
struct NormedRow<Counted>::Memory {
  explicit Memory(size_t M) : squares(M), size(M), ordinary(M) {}
  CountedArrays squares;
  std::vector<double> size, ordinary;  // |x| with its drift; 0 for a special case
};

}  // namespace sextant

// Sums of the errors of many elements, in vectors: the same bits on every instruction set.
#pragma once

#include <cstddef>
#include <span>

namespace sextant::oracle {

// Eight sums of every eighth number and then the sum of these, of the numbers and of their squares.
struct ErrorSums {
  static constexpr size_t kSums = 8;  // as many lanes as the widest vectors have
  explicit ErrorSums(std::span<const double> errors);
  double sum, squares;
};

// to[i] += x[i], for all x.
void AddEach(std::span<const double> x, double* to);

}  // namespace sextant::oracle

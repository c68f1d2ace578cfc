// Consecutive numbers in arrays.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "reference/number/counted/counted_numbers.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

// The numbers from number `first` on.
inline CountedNumbers From(const CountedNumbers& of, size_t first) {
  return {of.high + first, of.low + first, of.error + first, of.likely + first, of.drift + first};
}

inline void Set(const CountedNumbers& to, size_t j, const Counted& x) {
  to.high[j] = x.center().high;
  to.low[j] = x.center().low;
  to.error[j] = x.error();
  to.likely[j] = x.likely();
  to.drift[j] = x.drift();
}

// Numbers that have one format and are not saturated. Does not own them.
struct CountedSpan {
  CountedNumbers numbers;
  size_t count;
  std::optional<DType> format;

  Counted operator[](size_t j) const {
    return Counted::Of({numbers.high[j], numbers.low[j]}, numbers.drift[j], format, false)
        .WithError({numbers.error[j], numbers.likely[j]});
  }
  CountedSpan Part(size_t first, size_t length) const {
    return {From(numbers, first), length, format};
  }
};

// Numbers that are exact values of `type`.
struct ExactSpan {
  ExactSpan(std::span<const double> of, DType with) : values(of), type(with) {}
  explicit ExactSpan(const NamedTensor& tensor) : ExactSpan(tensor.values.data, tensor.dtype) {}
  ExactSpan Part(size_t first, size_t length) const {
    return {values.subspan(first, length), type};
  }

  std::span<const double> values;
  DType type;
};

inline std::vector<Counted> CountedOf(const ExactSpan& row) {
  std::vector<Counted> numbers;
  numbers.reserve(row.values.size());
  for (const double x : row.values) numbers.emplace_back(x, row.type);
  return numbers;
}

}  // namespace sextant

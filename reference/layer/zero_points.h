// Zero points: the integer from which the codes of a block count.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "reference/base/error.h"
#include "reference/number/tensor/dtype.h"
#include "reference/number/tensor/tensor.h"
#include "reference/number/value_of.h"

namespace sextant {

// The zero point of a block of zero[N,G]; 0 if there is none. Throws Error for one of more than 9
// bits: without those the difference of a code and its zero point is a number of f16.
template <class Real>
double ZeroAt(std::string_view name, const Tensor<Real>* zero, size_t n, size_t g) {
  if (!zero) return 0;
  const double value = ValueOf((*zero)(n, g));
  if (value >= -256 && value <= 255) return value;
  throw Error(name, "[", n, ",", g, "] is ", value, ", expected -256 to 255");
}

// Throws Error unless the type of codes that the line gives has integers.
inline void ExpectIntegers(const std::string& zero, const std::string& codes,
                           const std::map<std::string, DType>& given) {
  const auto at = given.find(codes);
  if (at == given.end() || RowOf(at->second).patterns != Patterns::kInteger)
    throw Error("with=", zero, ", expected dtype.", codes, "=i8 or dtype.", codes, "=i4");
}

}  // namespace sextant

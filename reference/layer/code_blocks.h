// Blocks of codes that share a scale, and their types.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "reference/base/error.h"
#include "reference/case/operation.h"
#include "reference/number/tensor/dtype.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

// The block x[n,:,g,:] of a tensor [N,A,G,M]: calls use(flat) for its elements.
template <class Use>
void ForBlock(const Shape& shape, size_t n, size_t g, const Use& use) {
  const size_t A = shape[1], G = shape[2], M = shape[3];
  for (size_t a = 0; a < A; ++a)
    for (size_t m = 0; m < M; ++m) use(((n * A + a) * G + g) * M + m);
}

// The type of the tensor `codes`, if the line of a case gives these types. Throws Error unless it
// has 8 bits.
inline DType TypeOfCodes(std::string_view operation, const std::map<std::string, DType>& given) {
  const auto at = given.find("codes");
  const DType type = at == given.end() ? DTypeOf(Role::kCode, DType::kF32) : at->second;
  if (SizeOf(type) != 1)
    throw Error(operation, ": codes are ", NameOf(type), ", expected a type of 8 bits");
  return type;
}

}  // namespace sextant

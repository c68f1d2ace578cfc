// Signatures: the one line that gives an operation's tensors, roles and shapes.
//   "x[B,H,S,D] position:i64[B,S] -> y[B,H,S,D] lse:wide?[B,H,S]"
// Role decides the dtype: none = the case's, i64, wide = f32 when the case is f16 or bf16 and the
// case's dtype otherwise, real = f64. A trailing ? marks an output that a subject may leave out.
// An extent is a product of capital letters, numbers and integer attributes, which /2 or +1 may
// end: "H*D", "R/2", "2*clip+1".
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reference/number/tensor.h"

namespace sextant {

enum class Role { kCase, kInteger, kWide, kReal };

struct TensorSpec {
  std::string name;
  Role role = Role::kCase;
  bool optional = false;
  std::vector<std::string> extents;  // one text per axis
};

struct Signature {
  std::vector<TensorSpec> inputs, outputs;
};

using Dimensions = std::map<std::string, int64_t>;  // letter (or attribute) -> extent

// The text is a constant of the program: it is asserted, not reported, to be well formed.
Signature ParseSignature(std::string_view text);

DType DTypeOf(Role role, DType of_case);

// The letters in an extent, and the attributes.
std::vector<std::string> LettersOf(std::string_view extent);
std::set<std::string> AttributesIn(std::string_view extent);

// Value of an extent; throws Error if a half is asked of an odd dimension.
size_t Extent(std::string_view extent, const Dimensions& dimensions);
Shape ShapeOf(const TensorSpec& tensor, const Dimensions& dimensions);

}  // namespace sextant

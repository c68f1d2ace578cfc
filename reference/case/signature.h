// Signatures: one line that gives an operation's tensors, roles and shapes.
//   "x[B,H,S,D] position:i64[B,S] bias?[D] -> y[B,H,S,D] lse:wide?[B,H,S]"
// The role decides the dtype: none = the dtype of the case, i64 = i64, wide = f32 for f16 and bf16
// cases and the dtype of the case otherwise, real = f64, code = f8_e4m3fn unless dtype.NAME= says
// another one of kCodeTypes; operand = of the case unless dtype.NAME= says another one of
// kOperandTypes; scale = as wide unless dtype.NAME= says another one of kScaleTypes;
// choice = i64. Codes and choices are chosen (reference/prove/golden.h), and outputs after a choice
// follow from the one that was answered. A trailing ? marks an optional output, which a subject may
// omit, or an optional input: the case decides whether it exists (Case::signature). Optional inputs
// stand after all others; no dimension is theirs alone. An extent is a product of capital letters,
// numbers and attributes that stand for a number (reference/case/dimensions.h); it may end with /2
// or +1: "H*D", "R/2", "2*clip+1", "layout*R/2".
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/number/tensor/tensor.h"

namespace sextant {

enum class Role { kCase, kInteger, kWide, kReal, kCode, kOperand, kScale, kChoice };
inline bool MayBeCodes(Role role) { return role == Role::kCode || role == Role::kOperand; }
// True if dtype.NAME= may give it a type that floating-point tensors do not have.
inline bool HasTypesOfCodes(Role role) { return MayBeCodes(role) || role == Role::kScale; }

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

// The text is a constant of the program, so its form is asserted.
Signature ParseSignature(std::string_view text);

DType DTypeOf(Role role, DType of_case);
// The types that dtype.NAME= may give to a tensor of that role.
std::span<const DType> TypesOf(Role role);

// The tensor of that name; null if there is none.
const TensorSpec* FindTensor(const Signature& signature, std::string_view name);
std::string TextOf(const TensorSpec& tensor);  // "x[B,H,S,D]"

// An extent: number * (product of the values of names), divided by 2 if `halved`, plus `added`.
struct ExtentFormula {
  std::string text;
  std::vector<std::string> names;  // letters and attributes
  int64_t number = 1;
  bool halved = false;
  int64_t added = 0;
};
ExtentFormula ParseExtent(std::string_view extent);

// The dimensions and the attributes in an extent.
std::vector<std::string> LettersOf(std::string_view extent);
std::set<std::string> AttributesIn(std::string_view extent);

// The value of an extent. Throws Error for half of an odd dimension, and on overflow.
size_t Extent(std::string_view extent, const Dimensions& dimensions);
Shape ShapeOf(const TensorSpec& tensor, const Dimensions& dimensions);

}  // namespace sextant

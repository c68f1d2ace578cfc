// Tensors as a user has them, brought into the layout of a signature:
//   the order of their axes       "x (B S H D)" for x[B,H,S,D]
//   leading axes                  x[2,3,8] for x[N,M] has N=6 rows, if rows are independent
//   positions of every sequence   [S] or [1,S] for position[B,S]
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reference/case/operation.h"
#include "reference/case/signature.h"
#include "reference/number/tensor/tensor_view.h"

namespace sextant {

// An input or an output that the user has.
struct OwnTensor {
  // As in the signature ("x"); with the order of its axes where that differs from the signature:
  // "x (B S H D)", each axis as the signature writes it. An axis that is left out has extent 1.
  std::string name;
  TensorView view;
  std::optional<DType> dtype{};  // of its values, where it is not that of its elements
};

// The axes of a given tensor, for messages.
struct GivenAxes {
  Shape shape{};                     // in the order of the signature, leading axes not folded
  std::vector<std::string> names{};  // of the given axes, in their own order; "" has no name
  std::vector<size_t> order{};       // given axis i is axis order[i] of `shape`

  // "y[B=1,S=0,H=24,D=80]": the place of an element, as the user's own tensor has it. `index` is
  // row-major in the order of the signature.
  std::string PlaceOf(const std::string& tensor, size_t index) const;
};

struct GivenTensor {
  TensorView view;  // axes in the order of the signature; leading axes are not folded
  DType dtype;
  Shape shape;  // that of `view`, leading axes folded
  GivenAxes axes;
};
using GivenTensors = std::map<std::string, GivenTensor>;  // by name

// Leading axes are folded into the first axis of the signature if elements are independent along it
// and no tensor of the operation has it elsewhere. Axes of extent 1 may lead every tensor. Throws
// Error for unknown and repeated tensors, for a wrong layout, and for leading axes that differ.
GivenTensors Arrange(const OperationInfo& info, std::vector<OwnTensor> tensors);

// By dimension, the given axes that are folded into it: N -> [2,3].
std::map<std::string, Shape> FoldedAxes(const Signature& signature, const GivenTensors& given);

}  // namespace sextant

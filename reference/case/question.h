// A question about a user's own tensors: the operation and its attributes, written as in a case
// line, without what the tensors say.
//   rope pairing=half base=500000      with the tensors x, position and y
// The tensors give every dimension of their shapes, and the dtypes. The question may state
// dimensions and dtypes too; then both must agree. The optional inputs are those that are given.
// What no tensor gives has the default of a case line (R=D). Positions, which are integers [B,...],
// may have extent 1 for B where another input has another batch: then they are those of every row.
// The tensors are the inputs, so the question has neither seed= nor @NAME=.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/case/case.h"
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

struct Question {
  Case c;
  Tensors inputs, outputs;            // in the order of the signature
  std::vector<std::string> defaults;  // what neither a tensor nor the text gave: "R=8"

  // The case with all dimensions and dtypes, without a seed.
  std::string Text() const;
};

// Throws Error that names the tensor or the dimension for unknown, missing and contradicting ones,
// for a dimension that stays unknown, and for values that are not exact in the dtype that the text
// states. Optional outputs may be missing.
Question ParseQuestion(std::string_view text, std::vector<OwnTensor> tensors);

}  // namespace sextant

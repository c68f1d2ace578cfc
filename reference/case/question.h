// A question about a user's own tensors: the operation and its attributes, written as in a case
// line, without what the tensors say.
//   rope pairing=half base=500000      with the tensors x, position and y
// The tensors give every dimension of their shapes, and the dtypes. The question may state
// dimensions and dtypes too; then both must agree. The optional inputs are those that are given.
// What no tensor gives has the default of a case line (R=D). Tensors may have other axes than the
// signature (reference/case/given_tensors.h): a layout, leading axes, positions of every sequence.
// The tensors are the inputs, so the question has neither seed= nor @NAME=.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reference/case/case.h"
#include "reference/case/given_tensors.h"

namespace sextant {

struct Question {
  Case c;
  Tensors inputs, outputs;                // in the order of the signature
  std::vector<std::string> defaults;      // what neither a tensor nor the text gave: "R=8"
  std::vector<GivenAxes> output_axes{};   // of `outputs`
  std::map<std::string, Shape> folded{};  // N -> [2,3]: the given axes that are folded into it
  std::vector<std::string> notes{};       // about aliases (reference/case/aliases.h)

  // The shape of an output, its leading axes as they are given.
  Shape OwnShape(const TensorSpec& output) const;
  // The case with all dimensions and dtypes, without a seed.
  std::string Text() const;
};

// The line of the case without its seed and its distributions: all but the numbers of the inputs.
std::string LineOfQuestion(const Case& c);

// Throws Error that names the tensor or the dimension for unknown, missing and contradicting ones,
// for a dimension that stays unknown, and for values that are not exact in the dtype that the text
// states. Optional outputs may be missing.
Question ParseQuestion(std::string_view text, const std::vector<OwnTensor>& tensors);

}  // namespace sextant

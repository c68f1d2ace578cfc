// Where the elements of an output fail: the values of its axes at which at least one element fails.
//
// An output has the axes of its signature ("S", "R/2"), with values 0 .. extent - 1, and these axes
// that derive from them:
//   the name of an input of integers   its value, if all its axes are axes of the output: the
//                                      `position` of a token, its `token`
//   pair                               the pair of channels on the last axis: D, R/2, or the
//                                      columns of a table, layout*R/2
#pragma once

#include <string>
#include <vector>

#include "oracle/judge/judge.h"

namespace sextant::oracle {

// The names of these axes, for the outputs of every case of an operation.
std::vector<std::string> AxisNamesOf(const Operation& operation, const TensorSpec& output);

struct OutputOf {
  const Case& c;
  const TensorSpec& output;
  const Tensors* inputs = nullptr;  // null: without the axes that are inputs
};
// `fails` has one value per element; at least one is true.
// A range contains only values that exist: positions 0, 40 and 50 of which 40 and 50 fail have the
// range 40 to 50.
std::vector<FailingIndices> FailingIndicesOf(const OutputOf& of, const std::vector<bool>& fails);

}  // namespace sextant::oracle

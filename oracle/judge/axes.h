// The axes of an output: those of its signature ("S", "R/2"), with values 0 .. extent - 1, and axes
// that derive from them:
//   the name of an input of integers   its value, if all its axes are axes of the output: the
//                                      `position` of a token, its `token`
//   pair                               the pair of channels on the last axis: D, R/2, or the
//                                      columns of a table, layout*R/2
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reference/case/case.h"

namespace sextant::oracle {

// The value of an element is values[index_of(its indices on the output's axes)].
struct Axis {
  static constexpr size_t kNone = static_cast<size_t>(-1);
  std::string name, derived_from;  // the axis of the signature from which it derives; else empty
  std::vector<int64_t> values;     // ascending, each once
  std::function<size_t(const Shape& at)> index_of;  // kNone: no value
};

struct OutputOf {
  const Case& c;
  const TensorSpec& output;
  const Tensors* inputs = nullptr;  // null: without the axes that are inputs
};
std::vector<Axis> AxesOf(const OutputOf& of);

// The names of these axes, for the outputs of every case of an operation.
std::vector<std::string> AxisNamesOf(const Operation& operation, const TensorSpec& output);

}  // namespace sextant::oracle

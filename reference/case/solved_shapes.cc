#include "reference/case/solved_shapes.h"

#include <algorithm>
#include <numeric>

#include "reference/base/error.h"

namespace sextant {
namespace {

using Stated = std::map<std::string, std::string>;

// Optional inputs come after the others, and outputs last: the first tensor gives a dimension.
ShapeSolver SolverOf(const Operation& operation, const Stated& stated, const GivenTensors& given) {
  ShapeSolver solver(operation, stated);
  const Signature& signature = operation.info().signature;
  for (const auto* side : {&signature.inputs, &signature.outputs}) {
    for (const TensorSpec& spec : *side) {
      if (const auto at = given.find(spec.name); at != given.end())
        solver.Add(spec, at->second.shape);
    }
  }
  solver.Solve();
  return solver;
}

// The tensors with this order of their axes: all that have as many, or only `one` unless empty.
std::vector<OwnTensor> InOrder(const std::vector<size_t>& order, const std::string& one,
                               const Signature& signature, std::vector<OwnTensor> tensors) {
  for (OwnTensor& tensor : tensors) {
    const TensorSpec* spec = FindTensor(signature, tensor.name);
    const bool is_meant = one.empty() || tensor.name == one;
    if (!spec || spec->extents.size() != order.size() || !is_meant) continue;
    tensor.name += " (";
    for (const size_t axis : order) tensor.name += spec->extents[axis] + " ";
    tensor.name.back() = ')';
  }
  return tensors;
}

// " 'x (B S H D)' 'y (B S H D)'": names that say another order of axes, so that the shapes fit: of
// all tensors with as many axes, else of one. Empty if no order fits.
std::string LayoutsThatFit(const Operation& operation, const Stated& stated,
                           const std::vector<OwnTensor>& tensors) {
  const OperationInfo& info = operation.info();
  for (const bool all : {true, false}) {
    for (const OwnTensor& one : tensors) {
      const TensorSpec* spec = FindTensor(info.signature, one.name);
      std::vector<size_t> order(spec ? spec->extents.size() : 0);
      std::iota(order.begin(), order.end(), size_t{0});
      while (std::ranges::next_permutation(order).found) {
        const auto named = InOrder(order, all ? "" : one.name, info.signature, tensors);
        try {
          SolverOf(operation, stated, Arrange(info, named));
        } catch (const Error&) {
          continue;
        }
        std::string names;
        for (size_t i = 0; i < named.size(); ++i) {
          if (named[i].name != tensors[i].name) names += " '" + named[i].name + "'";
        }
        return names;
      }
    }
  }
  return "";
}

}  // namespace

ShapeSolver SolvedShapes(const Operation& operation,
                         const std::map<std::string, std::string>& stated,
                         const GivenTensors& given, const std::vector<OwnTensor>& tensors) try {
  return SolverOf(operation, stated, given);
} catch (const Error& e) {
  const std::string names = LayoutsThatFit(operation, stated, tensors);
  if (names.empty()) throw;
  throw Error(e.what(), "; if axes are in another order, name them:", names);
}

}  // namespace sextant

// Solves the shapes of given tensors for the dimensions of an operation, and for the attributes
// that its shapes contain: x[B,H,S,D] of shape [1,2,3,8] gives B=1 H=2 S=3 D=8, and an axis
// "2*clip+1" of extent 9 gives clip=4.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reference/case/operation.h"
#include "reference/case/signature.h"

namespace sextant {

class ShapeSolver {
 public:
  // `stated`: attributes and dimensions as in a case line. All arguments must outlive the solver.
  ShapeSolver(const Operation& operation, const std::map<std::string, std::string>& stated);
  // Throws Error if the shape has a wrong number of axes.
  void Add(const TensorSpec& spec, const Shape& shape);
  // Throws Error for shapes that contradict each other or a stated number, and for a dimension that
  // stays unknown.
  void Solve();

  // "D=8" for everything that is not stated.
  std::vector<std::string> Solved() const;
  // Those of them that no tensor gives: they have the defaults of a case line.
  std::vector<std::string> Defaults() const;

 private:
  // One axis of a tensor: its extent is `size`.
  struct Equation {
    const TensorSpec* tensor;
    ExtentFormula extent;
    int64_t size;
  };
  struct Known {
    int64_t value;
    std::string text;
    std::string from;  // in messages: " by TENSOR", kStated or kDefault
  };
  bool IsInShapes(const std::string& attribute) const;
  void Set(const std::string& name, const std::string& text, std::string_view from);
  std::vector<std::string> UnknownOf(const ExtentFormula& extent) const;
  bool SolveOne();
  bool SetDefault();
  void Check(const Equation& equation) const;
  Dimensions Values() const;

  const Operation& operation_;
  std::vector<Equation> equations_;
  std::map<std::string, Known> known_;
};

}  // namespace sextant

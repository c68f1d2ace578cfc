// A plan: a formula as named stages, each a tensor that is computed from earlier ones. A plan can
// be edited: a stage is computed otherwise, read elsewhere, or has another number. So whatever
// changes one stage of a formula needs no formula of its own.
//
//   const auto square = p.Of("square", Step::kSquare, Function::kMultiply, {x, x});
//   const auto sum = p.Along('M', "sum of squares", Step::kSum, Function::kSum, square);
//
// Axes are letters, as in signatures. Stages of different axes are broadcast: [N,M] / [N].
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reference/number/recipe/recipe.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

enum class Function {
  kInput,
  kNumber,
  kSame,  // of one stage
  kSqrt,
  kExp,  // e^-infinity is exactly 0: a masked element
  kLog,
  kOther,     // Node::other
  kAdd,       // of two
  kSubtract,  // -infinity minus anything is -infinity
  kMultiply,
  kDivide,
  kLarger,
  kSmaller,
  kSum,  // along an axis
  kLargest,
  kCount,    // of the terms of a sum
  kReorder,  // index i reads index from(i)
  kStack,    // index k reads stage k
};

// The indices first, first + stride, ... below last.
struct Span {
  size_t first = 0, last = 0, stride = 1;
  auto operator<=>(const Span&) const = default;
};
using Spans = std::vector<Span>;  // an index in two of them counts twice

using Stage = size_t;  // its number in a plan; edits do not change it

struct Node {
  std::string noun{};  // "the mean square"
  Step step = Step::kStore;
  Function function = Function::kSame;
  std::vector<Stage> uses{};
  double number = 0;   // kNumber; kInput: its place in the signature
  std::string axes{};  // kInput: "NM"; others follow
  char axis = ' ';     // kSum, kLargest, kCount, kReorder, kStack
  // kSum, kLargest, kCount: the elements of the axis, if not all. With `of` they depend on the
  // index along it, so the axis stays.
  Spans spans{};
  std::function<Spans(size_t j)> of{};
  std::function<size_t(size_t i)> from{};   // kReorder
  std::function<bool(size_t i)> chosen{};   // kReorder: other elements are `number`
  std::function<double(double x)> other{};  // kOther
  std::optional<DType> stored{};            // in this format
  bool is_edited = false;                   // it may differ from the node before
};

class Plan {
 public:
  explicit Plan(std::map<char, size_t> extents) : extents_(std::move(extents)) {}

  Stage Input(const std::string& noun, const std::string& axes);
  Stage Number(const std::string& noun, double number);
  Stage Of(const std::string& noun, Step step, Function function, std::vector<Stage> uses);
  Stage Along(char axis, const std::string& noun, Step step, Function function, Stage of);
  // A new axis, the last one, has an index for each of the stages.
  Stage Stacked(char axis, const std::string& noun, std::vector<Stage> stages);
  Stage Reordered(Stage of, char axis, std::function<size_t(size_t i)> from);
  Stage Changed(Stage of, std::function<double(double x)> other);
  // One for each output. Another stage that is read instead is broadcast to the axes of this one.
  void AddResult(Stage stage) {
    results_.push_back(stage);
    result_axes_.push_back(AxesOf(stage));
  }

  size_t size() const { return nodes_.size(); }
  const Node& at(Stage stage) const { return nodes_[stage]; }
  Node& Edit(Stage stage) {
    nodes_[stage].is_edited = true;
    return nodes_[stage];
  }
  const std::vector<Stage>& results() const { return results_; }
  const std::string& AxesOfResult(size_t i) const { return result_axes_[i]; }
  size_t ExtentOf(char axis) const { return extents_.at(axis); }
  std::string AxesOf(Stage stage) const;
  // The same from those of the stages that it uses.
  template <class Axes>
  std::string AxesFrom(Stage stage, const Axes& of) const {
    const Node& node = nodes_[stage];
    if (node.function == Function::kInput) return node.axes;
    if (node.function == Function::kNumber) return "";
    std::string all;
    for (const Stage use : node.uses) all += of(use);
    if (node.function == Function::kStack) all += node.axis;
    const bool is_reduced =
        node.axis != ' ' && !node.of && !node.from && node.function != Function::kStack;
    std::string axes;
    for (const char letter : order_)
      if (all.find(letter) != std::string::npos && !(is_reduced && letter == node.axis))
        axes += letter;
    return axes;
  }

  // All that reads `stage` reads `other` instead, but what `other` is computed from.
  void Replace(Stage stage, Stage other);
  // True if `stage` is computed from `from`, or is it.
  bool DependsOn(Stage stage, Stage from) const;
  bool IsEdited(Stage stage) const;  // or what it is computed from
  // A copy of all that leads from `from` to `stage`, computed from `other` instead. Sums along axes
  // are copied only if `with_sums`.
  Stage CopyWith(Stage stage, Stage from, Stage other, bool with_sums = false);

  // The results; inputs in the order of the signature. Rounded and Counted require a recipe; double
  // has no roundings but its own.
  template <class Real>
  std::vector<Tensor<Real>> Evaluate(const std::vector<Tensor<Real>>& inputs) const;
  // All stages, and the results of a plan that was edited since: stages that did not change are not
  // computed again.
  using Values = std::vector<Tensor<double>>;
  Values EvaluateAll(const std::vector<Tensor<double>>& inputs) const;
  Values EvaluateAfter(const Values& before) const;
  void ForgetEdits();  // they are the plan
  // The results of this plan, but result i is that of `other`.
  void TakeResult(size_t i, const Plan& other);

 private:
  std::map<char, size_t> extents_;
  std::string order_;  // of the axes of a stage
  std::vector<Node> nodes_;
  std::vector<Stage> results_;
  std::vector<std::string> result_axes_;
};

}  // namespace sextant
